// Suite of `tatami plugins attack`; the published package does not contain it. It attacks a server with hostile plugins through the REST
// API, and judges whether each attack was held: nothing reached the server, an uninvolved plugin continued, and the runs show the attempt.
// Everything that it creates is removed.
import { ApiCallError } from '../client/index.ts';
import { ownPrefix, packageOf, type Forged, type Hostile, type Scene } from './case.ts';
import { escapes } from './escapes.ts';
import { gotThrough, blocked, judgeRuns, notJudged, unlessTouched, type AttackVerdict } from './judge.ts';
import { authority, exhaustions, requests } from './limits.ts';
import { forgedCalls } from './routes.ts';
import { callersAndReplays } from './scenes.ts';
import {
  allEnded,
  createStage,
  isOver,
  poll,
  type AttackIssue,
  type Runs,
  type Stage,
  type StageOptions,
} from './stage.ts';
import { supplyChain } from './supply-chain.ts';

/** The longest attack is first, so that the others run at the same time. */
export const hostiles: readonly Hostile[] = [...exhaustions, ...escapes, ...requests, ...authority];
export const scenes: readonly Scene[] = [...callersAndReplays, ...forgedCalls];
export const forgeries: readonly Forged[] = supplyChain;

/** Concurrent attacks: one that hangs does not delay the others. */
const atOnce = 4;

export interface SuiteVerdict extends AttackVerdict {
  readonly group: number;
  readonly name: string;
  readonly ms: number;
}

export interface SuiteOptions extends StageOptions {
  /** All by default, like the scenes and forgeries. */
  readonly hostiles?: readonly Hostile[];
  readonly scenes?: readonly Scene[];
  readonly forgeries?: readonly Forged[];
  readonly onVerdict?: (verdict: SuiteVerdict) => void;
}

const beside: Hostile = {
  group: 0,
  name: 'beside',
  ends: 'harmless',
  body: `await ctx.kv.increment('met');`,
};

/** Returns the verdicts in the order in which the attacks ended. @throws ApiCallError if the server rejects a request of the suite itself */
export async function runSuite(options: SuiteOptions): Promise<SuiteVerdict[]> {
  const { signal } = options;
  const stage = createStage(options);
  const verdicts: SuiteVerdict[] = [];
  const judge = async ({ group, name, play }: Scene): Promise<void> => {
    if (signal?.aborted) return;
    const from = performance.now();
    const verdict = { group, name, ...(await play(stage)), ms: Math.round(performance.now() - from) };
    // An attack that was cut short cannot be judged.
    if (signal?.aborted) return;
    verdicts.push(verdict);
    options.onVerdict?.(verdict);
  };
  await stage.begin();
  try {
    const good = packageOf(beside, 'tatami.attack-beside', 'tatami.attack', options.stranger);
    const wide = {
      ...good.manifest,
      on: { 'issue.created': { filter: { title: { startsWith: 'tatami.attack' } } } },
    };
    const peer = await stage.install({ ...good, manifest: wide });
    await playAll([...(options.hostiles ?? hostiles).map(sceneOf), ...(options.scenes ?? scenes)], judge);
    for (const forged of options.forgeries ?? forgeries)
      await judge({ ...forged, play: () => tryForged(stage, forged.forge(good)) });
    await judge({ group: 0, name: 'an uninvolved plugin', play: () => judgePeer(stage, peer) });
    return verdicts;
  } finally {
    await stage.removeAll();
  }
}

/** After an error no further attack starts, and those in progress end, so that the stage knows all that they created. */
async function playAll(left: Scene[], judge: (scene: Scene) => Promise<void>): Promise<void> {
  const work = async (): Promise<void> => {
    try {
      for (let next = left.shift(); next; next = left.shift()) await judge(next);
    } finally {
      left.length = 0;
    }
  };
  await allEnded(Array.from({ length: atOnce }, work));
}

const sceneOf = (hostile: Hostile): Scene => ({ ...hostile, play: (stage) => attack(stage, hostile) });

async function attack(stage: Stage, hostile: Hostile): Promise<AttackVerdict> {
  const title = ownPrefix + hostile.name;
  const plugin = await stage.install(packageOf(hostile, title, title, stage.stranger));
  const issues: AttackIssue[] = [];
  let runs: Runs = [];
  for (let count = 1; count <= (hostile.runs ?? 1); count++) {
    issues.push(await stage.createIssue(title));
    runs = await stage.runs([plugin], (now) => areDone(hostile, now, count));
  }
  const found = judgeRuns(hostile, runs);
  const judged = hostile.isLoop ? found : await unlessTouched(stage, plugin, issues, found);
  await stage.remove(`/plugins/${plugin}`, ...issues.map(({ id }) => `/issues/${id}`));
  return judged;
}

/** Returns true if that many runs have ended, or failed for the first time, and a loop was cut. */
const areDone = ({ isLoop }: Hostile, runs: Runs, count: number): boolean =>
  runs.length >= count && runs.every(isOver) && (!isLoop || runs.some(({ status }) => status === 'dead'));

async function tryForged(stage: Stage, document: unknown): Promise<AttackVerdict> {
  try {
    const { id } = await stage.call<{ id: string }>('POST', '/plugins', { package: document, grant: [] });
    stage.add(`/plugins/${id}`);
    await stage.remove(`/plugins/${id}`);
    return gotThrough('the package was installed');
  } catch (error) {
    if (!(error instanceof ApiCallError)) throw error;
    if (error.status >= 400 && error.status < 500) return blocked(error.code);
    return notJudged(`${error.status} ${error.message}`);
  }
}

async function judgePeer(stage: Stage, plugin: string): Promise<AttackVerdict> {
  const look = async (): Promise<number> =>
    stage.call<{ value: number }>('GET', `/plugins/${plugin}/kv/met`).then(
      ({ value }) => value,
      () => 0,
    );
  const met = await poll(look, (value) => value >= stage.issues);
  const why = `processed ${met} of ${stage.issues} issues`;
  return met === stage.issues ? blocked(why) : gotThrough(why);
}
