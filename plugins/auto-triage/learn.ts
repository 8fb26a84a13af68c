// Schedule `learn`: retrains each team's models from the issues that people labelled and prioritised, and fills its
// index of similar issues, least recently checked team first, as many teams as the run's CPU time allows; the next run
// continues. Teams without changes are skipped, and a model stays in use until a new one is trained.
import type { Progress } from '@tatami/sdk/plugin';
import type { LearnContext } from './context.ts';
import { fillIndex } from './duplicates/fill.ts';
import {
  readOwn,
  readOwnPriorities,
  readTeams,
  writeModel,
  writePriorityModel,
  writeTeams,
  type TeamEntry,
  type Teams,
} from './memory.ts';
import { modelVersion, type Model } from './model/model.ts';
import { train } from './model/train.ts';
import { learnPriorities, priorityModelVersion } from './priority/learned.ts';
import { findTeam, perTypeMax, readExamples, readPriorities, type ReadExample } from './reading.ts';

/** Minimum number of issues per kind; with fewer a model is worse than the rule. */
const perTypeMin = 5;
const typesMin = 2;
/** Maximum number of host calls of a run, less a reserve, and upper bound of those that train a team. */
const callsMax = 95;
const callsOfTraining = 35;
/** Estimated cost of one slice of training. Between slices the host reports the CPU time left. */
const sliceUs = 100_000;
/** CPU time reserved for storing a model and ending the run, and that of adding a page of issues to the index. */
const reserveMs = 500;
const pageMs = 400;
const teamsNewMax = 20;

/** Result of a team; null if the CPU time ran out first. */
type LearnedTeam = Omit<TeamEntry, 'checkedAt' | 'perKind'> | null;

export async function learn(event: { readonly scheduledAt: string }, ctx: LearnContext): Promise<Progress> {
  const round = Date.parse(event.scheduledAt);
  const counted = countCalls(ctx);
  const teams: Record<string, TeamEntry> = { ...(await withNewTeams(counted.ctx, await readTeams(ctx.kv))) };
  const waiting = Object.keys(teams)
    .filter((team) => teams[team]?.checkedAt !== round)
    .sort((a, b) => (teams[a]?.checkedAt ?? 0) - (teams[b]?.checkedAt ?? 0) || (a < b ? -1 : 1));
  const total = Object.keys(teams).length;
  let done = total - waiting.length;
  let dearestMs = 0;
  for (const [index, team] of waiting.entries()) {
    const leftMs = ctx.run.cpuLeftMs();
    if (leftMs < dearestMs * 1.3 + reserveMs || counted.calls() > callsMax - callsOfTraining) break;
    const entry = teams[team] ?? { checkedAt: 0, signature: '' };
    const learned = await learnTeam(counted.ctx, team, entry);
    if (!learned) {
      if (index === 0) done += makeSmaller(ctx, teams, team, round);
      break;
    }
    teams[team] = { ...entry, ...learned };
    const isFilled =
      !ctx.settings.duplicates ||
      (await fillIndex(counted.ctx, {
        team,
        teams: total,
        nowMs: round,
        canCall: (calls) => counted.calls() + calls <= callsMax && ctx.run.cpuLeftMs() > reserveMs + pageMs,
      }));
    if (!isFilled) break;
    teams[team] = { ...entry, ...learned, checkedAt: round };
    done++;
    dearestMs = Math.max(dearestMs, leftMs - ctx.run.cpuLeftMs());
  }
  await writeTeams(ctx.kv, teams);
  return { done, of: total, unit: 'teams' };
}

async function learnTeam(ctx: LearnContext, team: string, entry: TeamEntry): Promise<LearnedTeam> {
  const own = await readOwn(ctx.kv, team);
  const examples = await readExamples(ctx, team, own, entry.perKind ?? perTypeMax);
  const signature = signKinds(examples);
  if (signature !== '' && signature !== entry.signature) {
    const model = await inSlices(ctx, train(examples));
    if (!model) return null;
    await writeModel(ctx.kv, team, model);
    ctx.log.info(
      `${team}: learned from ${examples.length} labelled issues (bug, feature, question: ${model.learned.join(', ')})`,
    );
  }
  if (ctx.settings.priority === 'off') return { signature };
  return { signature, ...(await learnTeamPriorities(ctx, team, entry)) };
}

async function learnTeamPriorities(
  ctx: LearnContext,
  team: string,
  { prioritySignature, hasPriorities }: TeamEntry,
): Promise<Pick<TeamEntry, 'prioritySignature' | 'hasPriorities'>> {
  const examples = await readPriorities(ctx, team, await readOwnPriorities(ctx.kv, team));
  const signature = sign(
    examples.map(({ id, version, priority }) => ({ id, version, answer: priority })),
    priorityModelVersion,
  );
  if (signature === prioritySignature) return { prioritySignature, hasPriorities: hasPriorities === true };
  const model = learnPriorities(examples);
  if (model) await writePriorityModel(ctx.kv, team, model);
  if (model) ctx.log.info(`${team}: learned priorities from ${examples.length} issues`);
  return { prioritySignature: signature, hasPriorities: model !== undefined };
}

/** Returns the model; undefined if the CPU time runs out first. */
async function inSlices(ctx: LearnContext, steps: Generator<number, Model>): Promise<Model | undefined> {
  let spentUs = sliceUs;
  let leftMs = ctx.run.cpuLeftMs();
  for (;;) {
    if (spentUs >= sliceUs) {
      spentUs = 0;
      await ctx.sleep(0);
      const sliceMs = leftMs - ctx.run.cpuLeftMs();
      leftMs = ctx.run.cpuLeftMs();
      if (leftMs < reserveMs + 2 * sliceMs) return undefined;
    }
    const step = steps.next();
    if (step.done) return step.value;
    spentUs += step.value;
  }
}

/**
 * Halves the number of issues of a team whose training exceeds the CPU time of a whole run, as on a processor
 * many times slower than usual.
 * @returns the part of the team that counts as done; it increases with each call, and is 1 when the team is
 * given up
 */
function makeSmaller(
  ctx: LearnContext,
  teams: Record<string, TeamEntry>,
  team: string,
  round: number,
): number {
  const entry = teams[team] ?? { checkedAt: 0, signature: '' };
  const perType = Math.floor((entry.perKind ?? perTypeMax) / 2);
  if (perType >= perTypeMin) {
    teams[team] = { ...entry, perKind: perType };
    return 1 - perType / perTypeMax;
  }
  ctx.log.warn(`${team}: training exceeds the time limit of a run; the model is unchanged.`);
  teams[team] = { ...entry, checkedAt: round };
  return 1;
}

async function withNewTeams(ctx: LearnContext, known: Teams): Promise<Teams> {
  const teams: Record<string, TeamEntry> = { ...known };
  for (let newTeams = 0; newTeams < teamsNewMax; newTeams++) {
    const team = await findTeam(ctx, Object.keys(teams));
    if (team === undefined) break;
    teams[team] = { checkedAt: 0, signature: '' };
  }
  return teams;
}

/** Returns a signature; empty if there is too little to learn from. */
function signKinds(examples: readonly ReadExample[]): string {
  const perType = new Map<string, number>();
  for (const { kind } of examples) perType.set(kind, (perType.get(kind) ?? 0) + 1);
  const enough = [...perType.values()].filter((count) => count >= perTypeMin).length;
  if (enough < typesMin) return '';
  return sign(
    examples.map(({ id, version, kind }) => ({ id, version, answer: kind })),
    modelVersion,
  );
}

/** Returns a signature of the issues, their kinds or priorities, and the learner. */
function sign(
  examples: readonly { readonly id: string; readonly version: number; readonly answer: string }[],
  learner: number,
): string {
  let hash = Math.imul(0x811c9dc5, learner);
  for (const { id, version, answer } of examples)
    for (const char of `${id} ${answer} ${version};`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  return `${examples.length}-${(hash >>> 0).toString(36)}`;
}

/** Returns the same context, with a counter of host calls. */
function countCalls(ctx: LearnContext): { ctx: LearnContext; calls: () => number } {
  let calls = 0;
  const counting =
    <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args): Result => {
      calls++;
      return call(...args);
    };
  return {
    ctx: {
      run: ctx.run,
      settings: ctx.settings,
      log: ctx.log,
      sleep: ctx.sleep,
      issues: { list: counting(ctx.issues.list) },
      labels: { list: counting(ctx.labels.list) },
      kv: { get: counting(ctx.kv.get), set: counting(ctx.kv.set), delete: counting(ctx.kv.delete) },
    },
    calls: () => calls,
  };
}
