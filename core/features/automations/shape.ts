// Shapes of triggers, conditions and actions. The shape of a part depends on its `type`, so each is checked
// by its own schema, and an error names the part by its path.
import { Type, type Static, type TSchema } from 'typebox';
import { eventTypes, unsentType, type EventType } from '../../kernel/events/catalogue.ts';
import { compileCheck } from '../../kernel/http/request/validate.ts';
import { ApiError, invalidField, type ErrorDetail } from '../../platform/lib/errors/errors.ts';
import { Closed, inputForm, nullable } from '../../platform/lib/schema.ts';
import { didYouMean } from '../../platform/lib/text/words.ts';
import { issue, relationTypes } from '../issues/contract.ts';

const filter = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Filter tree, as for the list of issues.',
  [inputForm]: 'issueFilter',
});
const json = Type.Record(Type.String(), Type.Unknown());
const line = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });
const list = (of: TSchema, maxItems: number) => Type.Array(of, { minItems: 1, maxItems });
const literal = <T extends string>(type: T) => Type.Literal(type);
const optional = Type.Optional;

const textMax = 10_000;
const template = line(textMax, 'Text; may contain expressions such as {{ issue.title }}.');

const triggers = {
  event: Closed({
    type: literal('event'),
    event: Type.Unsafe<EventType>(Type.String({ maxLength: 60 })),
    filter: optional(filter),
    changed: optional(list(line(80, 'Name of a field.'), 20) as ReturnType<typeof Type.Array<TSchema>>),
    from: optional(filter),
    to: optional(filter),
  }),
  schedule: Closed({
    type: literal('schedule'),
    cron: line(100, 'Five cron fields, such as 0 9 * * 1.'),
    timeZone: optional(line(60, 'IANA time zone, such as Europe/Berlin.')),
  }),
  unchanged: Closed({
    type: literal('unchanged'),
    days: Type.Integer({ minimum: 1, maximum: 365 }),
  }),
  webhook: Closed({ type: literal('webhook') }),
  manual: Closed({ type: literal('manual') }),
} as const;
type TriggerType = keyof typeof triggers;
export type Trigger =
  | (Omit<Static<(typeof triggers)['event']>, 'changed'> & { readonly changed?: readonly string[] })
  | Static<(typeof triggers)[Exclude<TriggerType, 'event'>]>;

const match = Type.Enum(['all', 'any', 'none']);
const clock = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'A time such as 09:00.' });
const SubIssues = Closed({ match, filter });
const Conditions = Closed({
  issue: optional(filter),
  parent: optional(
    Closed({ exists: optional(Type.Boolean()), filter: optional(filter), subIssues: optional(SubIssues) }),
  ),
  subIssues: optional(SubIssues),
  relations: optional(Closed({ type: optional(Type.Enum([...relationTypes])), match, filter })),
  actor: optional(
    Closed({
      kinds: optional(list(Type.Enum(['user', 'api_key', 'app', 'plugin', 'system']), 5)),
      ids: optional(list(line(80, 'Id of a member, key, app, plugin or automation.'), 50)),
      not: optional(Type.Boolean()),
    }),
  ),
  time: optional(
    Closed({
      days: optional(list(Type.Enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']), 7)),
      from: optional(clock),
      until: optional(clock),
      timeZone: optional(line(60, 'IANA time zone, such as Europe/Berlin.')),
    }),
  ),
});
export type Conditions = Static<typeof Conditions>;

const Selection = Closed({
  filter,
  limit: optional(Type.Integer({ minimum: 1, maximum: 50 })),
});
type Selection = Static<typeof Selection>;

/** Issues that an action writes, relative to the issue of the trigger. */
const targets = [
  ...(['issue', 'parent', 'sub_issues', 'blocks', 'blocked_by', 'related'] as const),
  ...(['duplicates', 'duplicate_of'] as const),
] as const;
const on = optional(Type.Enum([...targets]));
const member = line(254, 'Id, name or e-mail address of a member.');

const actions = {
  set: Closed({
    type: literal('set'),
    on,
    fields: Type.Record(Type.String(), Type.Unknown(), { minProperties: 1 }),
  }),
  add: Closed({ type: literal('add'), on, field: Type.Enum(['labels']), values: list(template, 50) }),
  remove: Closed({ type: literal('remove'), on, field: Type.Enum(['labels']), values: list(template, 50) }),
  move: Closed({
    type: literal('move'),
    on,
    team: line(80, 'Key of a team.'),
    state: optional(line(80, 'Name of a state.')),
  }),
  comment: Closed({ type: literal('comment'), on, body: template, once: optional(Type.Boolean()) }),
  create: Closed({
    type: literal('create'),
    on,
    issues: list(json, 20),
    as: optional(Type.Enum(['sub_issue', 'issue'])),
  }),
  relate: Closed({
    type: literal('relate'),
    on,
    relation: Type.Enum([...relationTypes]),
    issue: line(200, 'Id or identifier of an issue.'),
  }),
  assign: Closed({
    type: literal('assign'),
    on,
    how: Type.Enum(['fixed', 'round_robin', 'least_open']),
    members: list(member, 50),
  }),
  subscribe: Closed({ type: literal('subscribe'), on, members: list(member, 50) }),
  board: Closed({
    type: literal('board'),
    on,
    board: line(120, 'Id or name of a board.'),
    column: line(80, 'Value or title of a column.'),
  }),
  cycle: Closed({ type: literal('cycle'), on, cycle: nullable(line(120, 'current, next, or an id.')) }),
  release: Closed({ type: literal('release'), on, release: nullable(line(120, 'Id or name of a release.')) }),
  http: Closed({
    type: literal('http'),
    host: line(80, 'Name of a host that an administrator added.'),
    method: optional(Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
    path: line(2000, 'Path such as /v1/messages.'),
    headers: optional(Type.Record(Type.String(), template, { maxProperties: 30 })),
    body: optional(Type.Unknown()),
  }),
  plugin: Closed({
    type: literal('plugin'),
    on,
    plugin: line(100, 'Id of a plugin in its manifest.'),
    action: line(40, 'Name of an action of the plugin.'),
    input: optional(json),
  }),
} as const;
type ActionType = keyof typeof actions;
export type Action = { [T in ActionType]: Static<(typeof actions)[T]> }[ActionType];

/** Schemas of the parts of a rule, for the schema of a file. */
export const partSchemas = { triggers, conditions: Conditions, selection: Selection, actions } as const;

const checksOf = (schemas: Readonly<Record<string, TSchema>>) =>
  Object.fromEntries(
    Object.entries(schemas).map(([type, schema]) => [type, { check: compileCheck(schema), schema }]),
  );
const checkTrigger = checksOf(triggers);
const checkAction = checksOf(actions);
const checkConditions = compileCheck(Conditions);
const checkSelection = compileCheck(Selection);

/** Parts of a rule as given. */
export interface RuleParts {
  readonly trigger: unknown;
  readonly conditions: unknown;
  readonly issues: unknown;
  readonly actions: readonly unknown[];
}
/** Checked parts of a rule. */
export interface Rule {
  readonly trigger: Trigger;
  readonly conditions: Conditions;
  readonly issues: Selection | null;
  readonly actions: readonly Action[];
}

/** @throws ApiError validation_failed for the first part of another shape */
export function requireShape(parts: RuleParts): asserts parts is RuleParts & Rule {
  checkTyped(parts.trigger, 'trigger', checkTrigger);
  const { event } = parts.trigger as { readonly event?: string };
  if (event !== undefined && !eventTypes.some((type) => type === event))
    throw invalidField('trigger.event', 'invalid_enum', noEvent(event));
  below('conditions', () => checkConditions(parts.conditions), Conditions);
  if (parts.issues !== null) below('issues', () => checkSelection(parts.issues), Selection);
  for (const [index, action] of parts.actions.entries()) checkTyped(action, `actions.${index}`, checkAction);
}

/** True for a value with an expression, which only a run can resolve. */
export const hasTemplate = (value: unknown): boolean => /\{[{%]/.test(JSON.stringify(value) ?? '');

/** A subscription of a webhook may name several types, a rule only one. */
function noEvent(event: string): string | { why: string; fix: string } {
  if (!event.includes('*')) return unsentType(event);
  const some = eventTypes.filter((type) => type.startsWith(event.replace(/\*.*/, ''))).slice(0, 4);
  return {
    why: 'A rule starts with one type of event.',
    fix: `Use one type${some.length > 0 ? `, such as ${some.join(', ')}` : ''}, and a rule of its own for each other type.`,
  };
}

/** Returns true for an action that needs no issue. */
export const isWithoutIssue = (action: Action): boolean =>
  action.type === 'http' || action.type === 'plugin' || (action.type === 'create' && action.as === 'issue');

/** Returns the parts of a stored rule. */
export const ruleOf = (parts: RuleParts): Rule => parts as unknown as Rule;

function checkTyped(part: unknown, at: string, checks: ReturnType<typeof checksOf>): void {
  const { type } = (part ?? {}) as { readonly type?: unknown };
  const types = Object.keys(checks);
  if (typeof type !== 'string' || !Object.hasOwn(checks, type))
    throw invalidField(`${at}.type`, type === undefined ? 'required' : 'invalid_enum', {
      why: type === undefined ? 'The type is missing.' : `There is no type ${String(type)}.`,
      fix: `Use one of ${types.join(', ')}.${didYouMean(String(type), types)}`,
    });
  const { check, schema } = checks[type]!;
  below(at, () => check(part), schema);
}

/** Puts the path of a part before the paths of an error. @param schema names the parts that an unknown one may be meant for */
export function below<T>(at: string, check: () => T, schema?: TSchema): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error;
    throw errorBelow(
      at,
      error,
      Object.keys((schema as { properties?: object } | undefined)?.properties ?? {}),
    );
  }
}

function errorBelow(at: string, error: ApiError, names: readonly string[]): ApiError {
  const known = names.filter((name) => name !== 'type').join(', ');
  const details = error.details.map((detail) => ({
    ...detail,
    path: detail.path ? `${at}.${detail.path}` : at,
    ...(isPlainlyUnknown(detail) && known !== '' ? { fix: `Remove this name, or use one of ${known}.` } : {}),
  }));
  // The message is about one of the fields.
  const index = error.details.findIndex(({ path }) => error.message.startsWith(`${path || 'body'}: `));
  const [was, is] = [error.details[index], details[index]];
  if (!was || !is) return new ApiError('validation_failed', error.message, { details });
  const words = error.message.slice((was.path || 'body').length + 2);
  const message = was.fix && is.fix ? words.replace(was.fix, () => is.fix!) : words;
  return new ApiError('validation_failed', `${is.path}: ${message}`, { details });
}

/** True for an unknown name of the part itself that resembles no other. */
const isPlainlyUnknown = ({ path, issue, fix }: ErrorDetail): boolean =>
  issue === 'unknown_field' && !path.includes('.') && !fix?.includes('Did you mean');

export const issueFieldNames = Object.keys(issue.fields);
