// People of an issue: assignee and subscribers.
import { InvalidInput } from '@tatami/sdk/plugin';
import { inputOf, type Step } from './actions.ts';
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
