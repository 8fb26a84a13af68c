// People of an issue (assignee, subscribers), and its places in plans (column of a board, cycle, release).
import { InvalidInput } from '@tatami/sdk/plugin';
import { inputOf, textOf, type Step } from './actions.ts';
import type { RuleIssue } from './rule.ts';
import { callOf, requireIssue, type RuleRun } from './run.ts';

const openStates = ['triage', 'backlog', 'unstarted', 'started'];
/** Longest page of a list. Members with more open issues are equal. */
const countedMax = 100;

export async function assign(run: RuleRun, step: Step<'assign'>): Promise<void> {
  const issue = requireIssue(step.issue, step.label);
  const { how } = step.action;
  const members = membersOf(step, step.action.members);
  const chosen =
    how === 'fixed'
      ? (members[0] as string)
      : how === 'round_robin'
        ? await nextOf(run, step.index, members)
        : await leastBusyOf(run, members);
  const { id, name } = issue.assignee ?? {};
  if (chosen === id || chosen === name) return;
  await callOf(run).issues.update(issue.id, { assignee: chosen });
  const open = run.found.get(openKey(chosen));
  if (typeof open === 'number') run.found.set(openKey(chosen), open + 1);
}

/** @throws InvalidInput without members */
function membersOf(step: Step, values: readonly string[]): readonly string[] {
  const members = [inputOf(step, values, 'members')].flat(2).filter((one) => typeof one === 'string');
  if (members.length === 0) throw new InvalidInput(`The rule names no member. Add one to \`members\`.`);
  return members;
}

/** The counter is stored with the other writes of the run. */
async function nextOf(run: RuleRun, index: number, members: readonly string[]): Promise<string> {
  const turn = await callOf(run).kv.increment(`round-robin:${index}`);
  return members[(turn - 1) % members.length] as string;
}

/** Returns the member with the fewest open issues, the first of several. */
async function leastBusyOf(run: RuleRun, members: readonly string[]): Promise<string> {
  let least = { member: members[0] as string, open: Infinity };
  for (const member of members) {
    const open = await countOpen(run, member);
    if (open < least.open) least = { member, open };
  }
  return least.member;
}

function openKey(member: string): string {
  return `open ${member}`;
}

/** Counts the open issues of a member once per run; `assign` adds those that it assigns. */
async function countOpen(run: RuleRun, member: string): Promise<number> {
  const known = run.found.get(openKey(member));
  if (typeof known === 'number') return known;
  const { data } = await callOf(run).issues.list({
    assignee: member,
    filter: { state: openStates },
    fields: 'identifier',
    limit: countedMax,
  });
  run.found.set(openKey(member), data.length);
  return data.length;
}

export async function subscribe(run: RuleRun, step: Step<'subscribe'>): Promise<void> {
  const { id } = requireIssue(step.issue, step.label);
  // A second subscription of a member changes nothing.
  for (const member of membersOf(step, step.action.members)) await callOf(run).subscribers.add(id, member);
}

/** Returns the result of an earlier call of the run with the same key. */
async function once<Result>(run: RuleRun, key: string, find: () => Promise<Result>): Promise<Result> {
  if (!run.found.has(key)) run.found.set(key, await find());
  return run.found.get(key) as Result;
}

function isAlike(a: string | null, b: string): boolean {
  return a?.toLowerCase() === b.toLowerCase();
}

export async function moveCard(run: RuleRun, step: Step<'board'>): Promise<void> {
  const { id } = requireIssue(step.issue, step.label);
  const name = textOf(step, step.action.board, 'board');
  const board = await once(run, `board ${name}`, () => findBoard(run, name));
  const text = textOf(step, step.action.column, 'column');
  const column =
    board.columns.find(({ key }) => key === text) ??
    board.columns.find(({ key, title, value }) => [key, title, value].some((one) => isAlike(one, text)));
  if (!column)
    throw new InvalidInput(
      `The board "${board.name}" has no column "${text}". Use ${board.columns.map(({ title }) => `"${title}"`).join(', ')}.`,
    );
  // A card that is in the column stays in place.
  await callOf(run).boards.move(board.id, { issueId: id, column: column.key });
}

async function findBoard(run: RuleRun, name: string) {
  const id = name.startsWith('brd_') ? name : (await callOf(run).boards.list({ name, limit: 1 })).data[0]?.id;
  if (id === undefined) throw new InvalidInput(`There is no board "${name}". Use the name or id of a board.`);
  const { board, columns } = await callOf(run).boards.cards(id, { perColumn: 1, fields: 'identifier' });
  return { id, name: board.name, columns };
}

export async function planCycle(run: RuleRun, step: Step<'cycle'>): Promise<void> {
  const issue = requireIssue(step.issue, step.label);
  const { cycle } = step.action;
  const name = cycle === null ? null : textOf(step, cycle, 'cycle');
  const isRelative = name === 'current' || name === 'next';
  await callOf(run).issues.update(issue.id, {
    cycleId: isRelative ? await findCycle(run, issue, name) : name,
  });
}

async function findCycle(run: RuleRun, { team }: RuleIssue, which: 'current' | 'next'): Promise<string> {
  const key = team?.key ?? '';
  return once(run, `cycle ${which} ${key}`, async () => {
    const status = which === 'current' ? 'active' : 'upcoming';
    const { data } = await callOf(run).cycles.list({ team: key, status, sort: 'startsAt', limit: 1 });
    if (data[0]) return data[0].id;
    throw new InvalidInput(`Team ${key} has no ${which} cycle. Create one, or name a cycle in the rule.`);
  });
}

const openReleases = ['planned', 'in_progress'] as const;

export async function planRelease(run: RuleRun, step: Step<'release'>): Promise<void> {
  const { id } = requireIssue(step.issue, step.label);
  if (step.action.release === null) return leaveReleases(run, id);
  const name = textOf(step, step.action.release, 'release');
  const releaseId = await once(run, `release ${name}`, () => findRelease(run, name));
  // An issue that is in the release stays in it.
  await callOf(run).releases.issuesAdd(releaseId, { issueIds: [id] });
}

async function findRelease(run: RuleRun, name: string): Promise<string> {
  if (name.startsWith('rel_')) return name;
  const { data } = await callOf(run).releases.list({ name, limit: 100 });
  const open = data.filter(({ status }) => openReleases.some((one) => one === status));
  const [found] = open;
  if (!found)
    throw new InvalidInput(`There is no unpublished release "${name}". Use the name or id of a release.`);
  if (open.length > 1)
    throw new InvalidInput(`${open.length} releases have the name "${name}". Use the id of one.`);
  return found.id;
}

/** Removes an issue from its unpublished releases. */
async function leaveReleases(run: RuleRun, issueId: string): Promise<void> {
  for (const status of openReleases) {
    const { data } = await once(run, `releases ${status}`, () =>
      callOf(run).releases.list({ status, limit: 100 }),
    );
    for (const { id, issueIds } of data)
      if (issueIds.includes(issueId)) await callOf(run).releases.issuesRemove(id, { issueIds: [issueId] });
  }
}
