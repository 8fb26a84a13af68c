// Actions on one issue: its fields, team, comments, relations and new issues. The others are in
// planning.ts and outside.ts.
import {
  type CommentCreate,
  Drop,
  type IssueCreate,
  type IssueMove,
  type IssuePatch,
} from '@tatami/sdk/plugin';
import { namedError } from './failure.ts';
import { callPlugin, send } from './outside.ts';
import { assign, moveCard, planCycle, planRelease, subscribe } from './planning.ts';
import {
  nameOf,
  type Action,
  type ActionType,
  type Relative,
  type RelationType,
  type RuleIssue,
} from './rule.ts';
import { callOf, requireIssue, type RuleRun } from './run.ts';
import { renderInput, type TemplateScope } from './template.ts';

/** Issue of the rule, with the relatives that its actions act on. */
export interface Target {
  readonly issue: RuleIssue | null;
  readonly relatives: ReadonlyMap<Relative, readonly RuleIssue[]>;
  /** Names that templates can use. */
  scope(): TemplateScope;
}

/** An action on one issue. */
export interface Step<Type extends ActionType = ActionType> {
  readonly action: Action<Type>;
  readonly index: number;
  /** Number and type of the action, for errors. */
  readonly label: string;
  readonly target: Target;
  /** Issue that the action acts on; null if the trigger has none. */
  readonly issue: RuleIssue | null;
}

type Perform<Type extends ActionType> = (run: RuleRun, step: Step<Type>) => Promise<void>;

const commentsPageMax = 100;
const commentPagesMax = 3;

const performs: { readonly [Type in ActionType]: Perform<Type> } = {
  set,
  add: changeList,
  remove: changeList,
  move,
  comment,
  create,
  relate,
  assign,
  subscribe,
  board: moveCard,
  cycle: planCycle,
  release: planRelease,
  http: send,
  plugin: callPlugin,
};

/** @throws Drop, PluginError with the number and type of the action, and the issue */
export async function perform(run: RuleRun, step: Step): Promise<void> {
  const { label, issue, action } = step;
  const act = performs[action.type] as Perform<ActionType> | undefined;
  if (!act) throw new Drop(`${label}: The action type is unknown. Update the rule.`);
  try {
    await act(run, step);
  } catch (error) {
    throw namedError(issue ? `${label} on ${nameOf(issue)}` : label, error);
  }
}

/** Largest number of calls of each action for one issue; 1 if absent. */
const costs: { readonly [Type in ActionType]?: (action: Action<Type>) => number } = {
  add: () => 2,
  remove: () => 2,
  comment: ({ once }) => (once === true ? 1 + commentPagesMax : 1),
  create: ({ issues }) => issues.length,
  relate: () => 2,
  assign: ({ how, members }) => ({ fixed: 1, round_robin: 2, least_open: 1 + members.length })[how],
  subscribe: ({ members }) => members.length,
  board: () => 3,
  cycle: () => 2,
  release: ({ release }) => (release === null ? 5 : 2),
};

export function costOf(action: Action): number {
  const cost = costs[action.type] as ((action: Action) => number) | undefined;
  return cost ? cost(action) : 1;
}

/** Renders a part of an action for the API. */
export function inputOf({ label, target }: Step, value: unknown, part: string): unknown {
  return renderInput(value, target.scope, `${label}, ${part}`);
}

/** Renders a part of an action that must be a text. @throws Drop */
export function textOf(step: Step, value: unknown, part: string): string {
  const text = inputOf(step, value, part);
  if (typeof text === 'string' && text !== '') return text;
  if (typeof text === 'number') return String(text);
  throw new Drop(
    `${step.label}, ${part}: The template yields no text. Use a value that every issue has, or the filter default.`,
  );
}

async function set(run: RuleRun, step: Step<'set'>): Promise<void> {
  const { id } = requireIssue(step.issue, step.label);
  // A patch that changes nothing is no write.
  await callOf(run).issues.update(id, inputOf(step, step.action.fields, 'fields') as IssuePatch);
}

async function changeList(run: RuleRun, step: Step<'add' | 'remove'>): Promise<void> {
  const { id } = requireIssue(step.issue, step.label);
  const { type, field } = step.action;
  const values = [inputOf(step, step.action.values, 'values')].flat(2);
  if (values.length === 0) return;
  if (field === 'labels')
    return void (await callOf(run).issues.update(id, {
      [type === 'add' ? 'addLabels' : 'removeLabels']: values as string[],
    }));
  const key = field.replace(/^fields\./, '');
  // The read includes earlier writes of the run.
  const { fields = {} } = await callOf(run).issues.get(id, { fields: 'fields' });
  const before = [fields[key] ?? []].flat();
  const after =
    type === 'add' ? [...new Set([...before, ...values])] : before.filter((one) => !values.includes(one));
  if (after.length === before.length) return;
  await callOf(run).issues.update(id, { fields: { [key]: after as string[] } });
}

async function move(run: RuleRun, step: Step<'move'>): Promise<void> {
  const { id } = requireIssue(step.issue, step.label);
  const { team, state } = step.action;
  const body: IssueMove = { team: textOf(step, team, 'team') };
  // A move within the team is a change of the state, or nothing.
  if (state !== undefined) body.state = textOf(step, state, 'state');
  await callOf(run).issues.move(id, body);
}

async function comment(run: RuleRun, step: Step<'comment'>): Promise<void> {
  const { id } = requireIssue(step.issue, step.label);
  const body = textOf(step, step.action.body, 'body');
  if (step.action.once === true) {
    const key = `comment ${id} ${body}`;
    if (run.found.has(key) || (await hasComment(run, id, body))) return;
    run.found.set(key, true);
  }
  await callOf(run).comments.create(id, { body } satisfies CommentCreate);
}

/** Searches the newest comments of an issue for one of this rule with the same text. */
async function hasComment(run: RuleRun, issueId: string, body: string): Promise<boolean> {
  const { id, name } = run.ctx.settings.rule;
  let after: string | null = null;
  for (let page = 0; page < commentPagesMax; page++) {
    const { data, pageInfo } = await callOf(run).comments.list(issueId, {
      limit: commentsPageMax,
      sort: '-createdAt',
      ...(after === null ? {} : { after }),
    });
    const isOwn = data.some(
      ({ author, body: text }) =>
        text.trim() === body.trim() &&
        (author.id === id || (author.kind === 'plugin' && author.name === name)),
    );
    if (isOwn) return true;
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage) return false;
  }
  return false;
}

async function create(run: RuleRun, step: Step<'create'>): Promise<void> {
  const { issues, as = 'sub_issue' } = step.action;
  const parent = as === 'sub_issue' ? requireIssue(step.issue, step.label) : null;
  for (const [index, fields] of issues.entries()) {
    const body = inputOf(step, fields, `issues.${index}`) as IssueCreate;
    const hasTeam = (body.team ?? body.teamId ?? body.teamKey) !== undefined;
    const team = step.issue?.team?.id;
    await callOf(run).issues.create({
      ...(hasTeam || team === undefined ? {} : { team }),
      ...(parent ? { parentId: parent.id } : {}),
      ...body,
    });
  }
}

async function relate(run: RuleRun, step: Step<'relate'>): Promise<void> {
  const { id } = requireIssue(step.issue, step.label);
  const type = textOf(step, step.action.relation, 'relation') as RelationType;
  const other = textOf(step, step.action.issue, 'issue');
  const { data } = await callOf(run).relations.list(id, { limit: 100 });
  const isRelated = data.some(
    (one) =>
      one.type === type &&
      (one.issue.id === other || one.issue.identifier?.toLowerCase() === other.toLowerCase()),
  );
  if (!isRelated) await callOf(run).relations.create(id, { type, issueId: other });
}
