/**
 * The schedule `learn`: learns each team's model anew from the issues that people labelled, the team longest not looked at
 * first, as many teams as the run's time allows. What did not change is not learned again.
 */
import type { LearnContext } from './context.ts';
import { readOwn, readTeams, writeModel, writeTeams, type TeamEntry, type Teams } from './memory.ts';
import type { Model } from './model/model.ts';
import { train, type Example } from './model/train.ts';
import { findTeam, readExamples } from './reading.ts';

/** A model of fewer is worse than the rule. */
const PER_KIND_MIN = 5;
const KINDS_MIN = 2;
/** Of the 10 s of processor time that a run has; measured by the clock, which runs no slower. */
const BUDGET_MS = 9000;
/** Of the 100 host calls that a run has; a team takes up to about 20. */
const CALLS_BEFORE_LAST_TEAM = 75;
/** What runs uninterrupted: far below the 100 ms of an entry, which is measured on a clock that other processes share. */
const SLICE_US = 15_000;
const TEAMS_NEW_MAX = 20;

export async function learn(ctx: LearnContext): Promise<void> {
  const startedAt = ctx.now();
  const counted = countCalls(ctx);
  const teams: Record<string, TeamEntry> = { ...(await withNewTeams(counted.ctx, await readTeams(ctx.kv))) };
  const order = Object.keys(teams).sort(
    (a, b) => (teams[a]?.checkedAt ?? 0) - (teams[b]?.checkedAt ?? 0) || (a < b ? -1 : 1),
  );
  let longestMs = 0;
  for (const team of order) {
    const teamStartedAt = ctx.now();
    if (teamStartedAt - startedAt + longestMs * 1.3 > BUDGET_MS || counted.calls() > CALLS_BEFORE_LAST_TEAM)
      break;
    const signature = await learnTeam(counted.ctx, team, teams[team]?.signature ?? '');
    teams[team] = { checkedAt: startedAt, signature };
    longestMs = Math.max(longestMs, ctx.now() - teamStartedAt);
  }
  await writeTeams(ctx.kv, teams);
}

/** @returns the signature of the team's model from now on. */
async function learnTeam(ctx: LearnContext, team: string, known: string): Promise<string> {
  const examples = await readExamples(ctx, team, await readOwn(ctx.kv, team));
  const signature = sign(examples);
  if (signature === '' || signature === known) return signature;
  const model = await inSlices(ctx, train(examples));
  await writeModel(ctx.kv, team, model);
  ctx.log.info(
    `${team}: learned from ${examples.length} labelled issues (bug, feature, question: ${model.learned.join(', ')})`,
  );
  return signature;
}

async function inSlices(ctx: LearnContext, steps: Generator<number, Model>): Promise<Model> {
  let spentUs = SLICE_US;
  for (;;) {
    if (spentUs >= SLICE_US) {
      spentUs = 0;
      await ctx.sleep(0);
    }
    const step = steps.next();
    if (step.done) return step.value;
    spentUs += step.value;
  }
}

async function withNewTeams(ctx: LearnContext, known: Teams): Promise<Teams> {
  const teams: Record<string, TeamEntry> = { ...known };
  for (let found = 0; found < TEAMS_NEW_MAX; found++) {
    const team = await findTeam(ctx, Object.keys(teams));
    if (team === undefined) break;
    teams[team] = { checkedAt: 0, signature: '' };
  }
  return teams;
}

/** Changes with the issues, their kinds and the learner; empty when there is too little to learn from. */
function sign(examples: readonly (Example & { readonly id: string; readonly version: number })[]): string {
  const perKind = new Map<string, number>();
  let hash = 0x811c9dc5;
  for (const { id, kind, version } of examples) {
    perKind.set(kind, (perKind.get(kind) ?? 0) + 1);
    for (const char of `${id} ${kind} ${version};`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  }
  const enough = [...perKind.values()].filter((count) => count >= PER_KIND_MIN).length;
  return enough < KINDS_MIN ? '' : `${examples.length}-${(hash >>> 0).toString(36)}`;
}

/** The same context, counting what counts against the run's host calls. */
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
      log: ctx.log,
      now: ctx.now,
      sleep: ctx.sleep,
      issues: { list: counting(ctx.issues.list) },
      labels: { list: counting(ctx.labels.list) },
      kv: { get: counting(ctx.kv.get), set: counting(ctx.kv.set) },
    },
    calls: () => calls,
  };
}
