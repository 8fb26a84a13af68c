// Checks that a rule makes sense: its names exist, its conditions can hold together, and its own actions do not
// satisfy its trigger without end.
import { isRunEvent } from '../../../sdk/plugin/event-types.ts';
import type { Context } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import { compileCheck } from '../../kernel/http/request/validate.ts';
import { idOfName } from '../../kernel/resource/names/names.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { checkCron } from '../../platform/lib/time/cron.ts';
import { checkZone } from '../../platform/lib/time/time.ts';
import { didYouMean } from '../../platform/lib/text/words.ts';
import { IssueCreate, IssueUpdate, issueFiltering } from '../issues/index.ts';
import { member } from '../people/contract.ts';
import { requireConsistent } from './contradictions.ts';
import { requireObjects } from './objects.ts';
import { readHosts, showsIssue } from './compile.ts';
import type { RuleRuntime } from './runtime.ts';
import {
  below,
  hasTemplate,
  issueFieldNames,
  isWithoutIssue,
  type Action,
  type Conditions,
  type Rule,
  type RuleParts,
  type Trigger,
  ruleOf,
} from './shape.ts';

/** @throws ApiError validation_failed */
export async function requireSound(ctx: Context, parts: RuleParts, runtime: RuleRuntime): Promise<void> {
  const rule = ruleOf(parts);
  await requireTrigger(ctx, rule, runtime);
  await requireConditions(ctx, rule);
  await requireTemplates(rule, runtime);
  const hosts = await readHosts(ctx.store, ctx.scope);
  for (const [index, action] of rule.actions.entries()) {
    const at = `actions.${index}`;
    requireAction(ctx, action, at);
    await requireObjects(ctx, action, at);
    if (action.type === 'http' && !hosts.has(action.host))
      throw invalidField(`${at}.host`, 'not_found', {
        why: `There is no host ${action.host}.`,
        fix: `Use a host that an admin added.${didYouMean(action.host, hosts.keys())}`,
      });
  }
  requireSubject(rule, runtime, ctx);
  requireConsistent(ctx, rule, runtime);
}

async function requireTrigger(ctx: Context, { trigger }: Rule, runtime: RuleRuntime): Promise<void> {
  if (trigger.type === 'schedule') {
    requireZone(trigger.timeZone, 'trigger.timeZone');
    const cron = checkCron(trigger.cron, trigger.timeZone);
    if (cron !== null) throw invalidField('trigger.cron', 'invalid_format', cron);
  }
  if (trigger.type === 'event') await requireEvent(ctx, trigger, runtime);
}

function requireZone(name: string | undefined, at: string): void {
  const why = name === undefined ? null : checkZone(name);
  if (why !== null) throw invalidField(at, 'not_found', why);
}

async function requireEvent(
  ctx: Context,
  trigger: Extract<Trigger, { type: 'event' }>,
  runtime: RuleRuntime,
): Promise<void> {
  const { event, filter, from, to, changed } = trigger;
  if (isRunEvent(event))
    throw invalidField('trigger.event', 'invalid_enum', {
      why: `Automations cannot react to ${event}, because each run would trigger another.`,
      fix: 'Use the event of the change, such as issue.updated.',
    });
  if ((from ?? changed) && /\.(created|deleted|added)$/.test(event))
    throw invalidField(from ? 'trigger.from' : 'trigger.changed', 'conflict', {
      why: `${event} events have no previous values.`,
      fix: `Use an event of changes, such as ${event.split('.', 1)[0]}.updated, or leave this out.`,
    });
  for (const [name, tree] of Object.entries({ filter, from, to }))
    if (tree) await runtime.checkFilter(ctx, event, tree, `trigger.${name}`);
  requireChanged(ctx, event, changed ?? [], runtime);
}

function requireChanged(
  ctx: Context,
  event: EventType,
  changed: readonly string[],
  { filterFields }: RuleRuntime,
): void {
  const known = new Set([
    ...Object.keys(filterFields(event, ctx.directory)),
    ...(showsIssue(event) ? issueFieldNames : ['name', 'description', 'body', 'title']),
  ]);
  const index = changed.findIndex((name) => !known.has(name));
  const name = changed[index];
  if (name === undefined) return;
  throw invalidField(`trigger.changed.${index}`, 'unknown_field', {
    why: `${event} events have no field ${name}.`,
    fix: `Use a field of the object, such as ${[...known].slice(0, 5).join(', ')}.${didYouMean(name, known)}`,
  });
}

async function requireConditions(ctx: Context, { conditions, issues }: Rule): Promise<void> {
  const { issue, parent, subIssues, relations } = conditions;
  const filters = {
    'conditions.issue': issue,
    'conditions.parent.filter': parent?.filter,
    'conditions.parent.subIssues.filter': parent?.subIssues?.filter,
    'conditions.subIssues.filter': subIssues?.filter,
    'conditions.relations.filter': relations?.filter,
    'issues.filter': issues && !hasTemplate(issues.filter) ? issues.filter : undefined,
  };
  for (const [at, filter] of Object.entries(filters)) if (filter) await issueFiltering.check(ctx, filter, at);
  requirePossible(conditions);
}

function requirePossible({ parent, time }: Conditions): void {
  if (parent?.exists === false && (parent.filter ?? parent.subIssues))
    throw invalidField('conditions.parent', 'conflict', {
      why: 'An issue without a parent has no parent that matches a filter.',
      fix: 'Leave out `exists`, or `filter` and `subIssues`.',
    });
  requireZone(time?.timeZone, 'conditions.time.timeZone');
  if (time && (time.from !== undefined || time.until !== undefined) && time.from === time.until)
    throw invalidField('conditions.time.until', 'conflict', {
      why: 'The window has no length.',
      fix: 'Give a time other than `from`.',
    });
}

/** The check of a template blocks the server for about a microsecond per character. */
const templateCharsMax = 50_000;

async function requireTemplates({ actions, issues }: Rule, { checkTemplate }: RuleRuntime): Promise<void> {
  let chars = 0;
  const visit = async (value: unknown, path: string): Promise<void> => {
    if (typeof value === 'string') {
      if (!hasTemplate(value)) return;
      chars += value.length;
      if (chars > templateCharsMax)
        throw invalidField(path, 'too_long', {
          why: `The templates of the rule have more than ${templateCharsMax} characters.`,
          fix: 'Use shorter templates, or several rules.',
        });
      const why = await checkTemplate(value);
      if (why !== null) throw invalidField(path, 'invalid_format', why);
    } else if (value !== null && typeof value === 'object')
      for (const [name, part] of Object.entries(value)) await visit(part, `${path}.${name}`);
  };
  for (const [index, action] of actions.entries()) await visit(action, `actions.${index}`);
  if (issues) await visit(issues.filter, 'issues.filter');
}

const checkUpdate = compileCheck(IssueUpdate);
const checkCreate = compileCheck(IssueCreate);

function requireAction(ctx: Context, action: Action, at: string): void {
  if (action.type === 'set') requireFields(action.fields, `${at}.fields`, IssueUpdate, checkUpdate);
  if (action.type === 'create')
    for (const [index, one] of action.issues.entries())
      requireFields({ team: 'ENG', ...(one as object) }, `${at}.issues.${index}`, IssueCreate, checkCreate);
  if (action.type === 'assign' || action.type === 'subscribe')
    for (const [index, name] of action.members.entries())
      if (!hasTemplate(name)) idOfName(ctx, member, String(name), `${at}.members.${index}`);
  if (action.type === 'http' && !action.path.startsWith('/'))
    throw invalidField(
      `${at}.path`,
      'invalid_format',
      'Give a path that starts with /, such as /v1/messages.',
    );
}

/** Checks the names of fields, and the values without expressions. @throws ApiError validation_failed */
function requireFields(
  fields: Readonly<Record<string, unknown>>,
  at: string,
  body: object,
  check: (value: unknown) => void,
): void {
  const { properties } = body as { readonly properties: Readonly<Record<string, unknown>> };
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined)
    throw invalidField(`${at}.${unknown}`, 'unknown_field', {
      why: `Issues have no writable field ${unknown}.`,
      fix: `Use the fields of the API.${didYouMean(unknown, Object.keys(properties))}`,
    });
  const plain = Object.entries(fields).filter(([, value]) => !hasTemplate(value));
  const title = 'title' in fields && hasTemplate(fields.title) ? { title: 'Title' } : {};
  below(at, () => check({ ...Object.fromEntries(plain), ...title }));
}

/** @throws ApiError validation_failed for actions on an issue that the trigger does not have */
function requireSubject(
  { trigger, issues, actions }: Rule,
  { filterFields }: RuleRuntime,
  ctx: Context,
): void {
  if (issues !== null || trigger.type === 'unchanged' || trigger.type === 'manual') return;
  if (trigger.type === 'event') {
    const { event } = trigger;
    if (showsIssue(event) || 'issue' in filterFields(event, ctx.directory)) return;
  }
  const needing = actions.findIndex((action) => !isWithoutIssue(action));
  if (needing < 0) return;
  throw invalidField('issues', 'required', {
    why: `The trigger has no issue, but action ${needing + 1} (${actions[needing]!.type}) needs one.`,
    fix: 'Give a filter, such as {"filter":{"state":"started"}}.',
  });
}
