// Resolves projects and milestones, which are created if missing, and cycles that have not ended. Those that cannot be used, because a
// scope is missing or the cycle has ended, are reported once and omitted.
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { foldName } from '../../../platform/lib/text/words.ts';
import { readAll } from '../lib/pages.ts';
import { fitBytes, fitChars } from './fit.ts';
import type { ImportedCycle, ImportRow, Milestone } from './formats/row.ts';
import { attempted } from './requests.ts';
import type { ImportContext } from './report.ts';

const nameCharsMax = 120;
const textBytesMax = 64 * 1024;

interface Planned {
  projectId?: string;
  milestoneId?: string;
  cycleId?: string;
}

/** Returns the project, milestone and cycle of a row for the create request. */
export type Plan = (row: ImportRow, team: string) => Promise<Planned>;

export function createPlan(context: ImportContext): Plan {
  const milestoneIn = createMilestones(context);
  const projectOf = createProjects(context);
  const cycleIn = createCycles(context);
  return async ({ project, milestone, cycles = [] }, team) => {
    const projectId = project === undefined ? undefined : await projectOf(project);
    if (milestone && projectId === undefined) context.left('milestone');
    const milestoneId = projectId && milestone && (await milestoneIn(projectId, milestone));
    const cycleId = cycles.length === 0 ? undefined : await cycleIn(team, cycles);
    return {
      ...(projectId && { projectId }),
      ...(milestoneId && { milestoneId }),
      ...(cycleId && { cycleId }),
    };
  };
}

interface NamedEntity {
  readonly id: string;
  readonly name: string;
}

/** Things by name: read once, and made where missing. */
function createNamed(
  { call, report, note, left }: ImportContext,
  what: 'project' | 'milestone',
  { list, path }: { readonly list: string; readonly path: string },
): (name: string, more: object) => Promise<string | undefined> {
  /** Folded name → id; null where it cannot be had. */
  let known: Map<string, string | null> | null = null;
  let isClosed = false;
  return async (given, more) => {
    const name = fitChars(given, nameCharsMax);
    if (known === null) {
      const answer = await attempted(readAll<NamedEntity>(call, list));
      isClosed = 'refusal' in answer;
      if ('refusal' in answer) note(`${what}s are skipped: ${answer.refusal.message}`);
      known = new Map('refusal' in answer ? [] : answer.value.map((one) => [foldName(one.name), one.id]));
    }
    if (!known.has(foldName(name)) && !isClosed) {
      const answer = await attempted(call<NamedEntity>('POST', path, { name, ...more }));
      if ('refusal' in answer) note(`the ${what} "${name}" cannot be created: ${answer.refusal.message}`);
      else report[`${what}s`]++;
      known.set(foldName(name), 'refusal' in answer ? null : answer.value.id);
    }
    const id = known.get(foldName(name));
    if (!id) left(what);
    return id ?? undefined;
  };
}

function createProjects(context: ImportContext): (name: string) => Promise<string | undefined> {
  const named = createNamed(context, 'project', { list: '/projects?archived=include', path: '/projects' });
  return (name) => named(name, {});
}

function createMilestones(
  context: ImportContext,
): (projectId: string, milestone: Milestone) => Promise<string | undefined> {
  const byProject = new Map<string, ReturnType<typeof createNamed>>();
  return (projectId, { name, description = '', targetDate }) => {
    const path = `/projects/${projectId}/milestones`;
    const named = byProject.get(projectId) ?? createNamed(context, 'milestone', { list: path, path });
    byProject.set(projectId, named);
    return named(name, {
      description: fitBytes(description, textBytesMax),
      ...(targetDate === undefined ? {} : { targetDate }),
    });
  };
}

interface KnownCycle extends NamedEntity {
  readonly startsAt: string;
  readonly endsAt: string;
  readonly status: string;
}

function createCycles({ call, report, note, left }: ImportContext) {
  const ofTeams = new Map<string, KnownCycle[]>();
  const said = new Set<string>();
  const missing = (why: string, text: string): undefined => {
    if (!said.has(text)) note(text);
    said.add(text);
    left(why);
  };
  const known = async (team: string): Promise<KnownCycle[]> => {
    const before = ofTeams.get(team);
    if (before) return before;
    const answer = await attempted(readAll<KnownCycle>(call, `/cycles?team=${team}`));
    if ('refusal' in answer) note(`cycles of ${team} are skipped: ${answer.refusal.message}`);
    const found = 'refusal' in answer ? [] : answer.value;
    ofTeams.set(team, found);
    return found;
  };
  const make = async (team: string, { name, startsAt, endsAt }: Dated): Promise<string | undefined> => {
    const body = { team, name: fitChars(name, nameCharsMax), startsAt, endsAt };
    const text = `the cycle "${name}" of ${team} cannot be created`;
    if (said.has(text)) return missing('cycle', text);
    const answer = await attempted(call<KnownCycle>('POST', '/cycles', body));
    if ('refusal' in answer) {
      note(`${text}: ${answer.refusal.message}`);
      said.add(text);
      return missing('cycle', text);
    }
    report.cycles++;
    ofTeams.get(team)?.push(answer.value);
    return answer.value.id;
  };

  return async (team: string, cycles: readonly ImportedCycle[]): Promise<string | undefined> => {
    const here = await known(team);
    const open = cycles
      .map((cycle) => meant(here, cycle))
      .findLast((found) => found && found.status !== 'completed');
    if (open) return open.id;
    const last = cycles.at(-1)!;
    if (meant(here, last) || hasPassed(last))
      return missing(
        'cycle that has ended',
        `the cycle "${last.name}" of ${team} has ended: its issues get no cycle`,
      );
    if (isDated(last)) return make(team, last);
    return missing('unknown cycle', `${team} has no cycle "${last.name}": its issues get no cycle`);
  };
}

type Dated = ImportedCycle & { readonly startsAt: string; readonly endsAt: string };

const isDated = (cycle: ImportedCycle): cycle is Dated =>
  cycle.startsAt !== undefined && cycle.endsAt !== undefined;

const hasPassed = ({ endsAt }: ImportedCycle): boolean =>
  endsAt !== undefined && Date.parse(endsAt) <= systemClock.nowMs();

/** The one in which its middle lies, whatever it is called; by its name where the file gives no times. */
function meant(here: readonly KnownCycle[], cycle: ImportedCycle): KnownCycle | undefined {
  if (!isDated(cycle)) return here.findLast(({ name }) => foldName(name) === foldName(cycle.name));
  const middle = (Date.parse(cycle.startsAt) + Date.parse(cycle.endsAt)) / 2;
  return here.find(({ startsAt, endsAt }) => Date.parse(startsAt) <= middle && middle < Date.parse(endsAt));
}
