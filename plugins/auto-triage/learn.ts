// Schedule `learn`: retrains each team's model from the issues that people labelled, least recently checked team
// first, as many teams as the run's CPU time allows; the next run continues. Teams without changes are skipped, and a
// model stays in use until a new one is trained.
import type { Progress } from '@tatami/sdk/plugin';
import type { LearnContext } from './context.ts';
import { readOwn, readTeams, writeModel, writeTeams, type TeamEntry, type Teams } from './memory.ts';
import type { Model } from './model/model.ts';
import { train, type Example } from './model/train.ts';
import { findTeam, perTypeMax, readExamples } from './reading.ts';

/** Minimum number of issues per kind; with fewer a model is worse than the rule. */
const perTypeMin = 5;
const typesMin = 2;
/**
 * Number of host calls after which no further team is started. A run may make 100, and a team takes up to
 * about 20.
 */
const callsBeforeLastTeam = 75;
/** Estimated cost of one slice of training. Between slices the host reports the CPU time left. */
const sliceUs = 100_000;
/** CPU time reserved for storing a model and ending the run. */
const reserveMs = 500;
const teamsNewMax = 20;

/** Result of a team; null if the CPU time ran out first. */
type LearnedTeam = { readonly signature: string } | null;

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
    if (leftMs < dearestMs * 1.3 + reserveMs || counted.calls() > callsBeforeLastTeam) break;
    const entry = teams[team] ?? { checkedAt: 0, signature: '' };
    const learned = await learnTeam(counted.ctx, team, entry);
    if (learned) {
      teams[team] = { ...entry, ...learned, checkedAt: round };
      done++;
    } else {
      if (index === 0) done += makeSmaller(ctx, teams, team, round);
      break;
    }
    dearestMs = Math.max(dearestMs, leftMs - ctx.run.cpuLeftMs());
  }
  await writeTeams(ctx.kv, teams);
  return { done, of: total, unit: 'teams' };
}

async function learnTeam(ctx: LearnContext, team: string, entry: TeamEntry): Promise<LearnedTeam> {
  const own = await readOwn(ctx.kv, team);
  const examples = await readExamples(ctx, team, own, entry.perKind ?? perTypeMax);
  const signature = sign(examples);
  if (signature === '' || signature === entry.signature) return { signature };
  const model = await inSlices(ctx, train(examples));
  if (!model) return null;
  await writeModel(ctx.kv, team, model);
  ctx.log.info(
    `${team}: learned from ${examples.length} labelled issues (bug, feature, question: ${model.learned.join(', ')})`,
  );
  return { signature };
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

/** Returns a signature of the issues, their kinds and the learner; empty if there is too little to learn from. */
function sign(examples: readonly (Example & { readonly id: string; readonly version: number })[]): string {
  const perType = new Map<string, number>();
  let hash = 0x811c9dc5;
  for (const { id, kind, version } of examples) {
    perType.set(kind, (perType.get(kind) ?? 0) + 1);
    for (const char of `${id} ${kind} ${version};`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  }
  const enough = [...perType.values()].filter((count) => count >= perTypeMin).length;
  return enough < typesMin ? '' : `${examples.length}-${(hash >>> 0).toString(36)}`;
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
      log: ctx.log,
      sleep: ctx.sleep,
      issues: { list: counting(ctx.issues.list) },
      labels: { list: counting(ctx.labels.list) },
      kv: { get: counting(ctx.kv.get), set: counting(ctx.kv.set) },
    },
    calls: () => calls,
  };
}
