// Attacks a server with hostile plugins, through its REST API alone, and says of each attack whether it was held: nothing reached
// the server, a plugin beside it went on, and the attempt stands in the runs where an operator looks. What it made, it removes.
import { ApiCallError } from '../../../../sdk/client/index.ts';
import { poll } from '../../poll.ts';
import { authority } from './authority.ts';
import { ownPrefix, packageOf, type Forged, type Hostile, type Scene } from './case.ts';
import { escapes } from './escape.ts';
import { exhaustions } from './exhaustion.ts';
import { gotThrough, blocked, judgeRuns, notJudged, unlessTouched, type AttackVerdict } from './judge.ts';
import { outside } from './outside.ts';
import { forgedCalls } from './forged-calls.ts';
import { callersAndReplays } from './scenes.ts';
import {
  allEnded,
  createStage,
  isOver,
  type AttackIssue,
  type Runs,
  type Stage,
  type StageOptions,
} from './stage.ts';
import { supplyChain } from './supply-chain.ts';

/** The longest lasting first, so that the others are made beside it. */
export const hostiles: readonly Hostile[] = [...exhaustions, ...escapes, ...outside, ...authority];
export const scenes: readonly Scene[] = [...callersAndReplays, ...forgedCalls];
export const forgeries: readonly Forged[] = supplyChain;

/** Attacks at once: one that hangs does not hold up the others. */
const atOnce = 4;
/** The plugin beside them is waited for so long. */
const waitMs = 60_000;

export interface SuiteVerdict extends AttackVerdict {
  readonly group: number;
  readonly name: string;
  readonly ms: number;
}

export interface SuiteOptions extends StageOptions {
  /** By default all there are. */
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

/** In the order in which they ended. @throws ApiCallError where the server does not let the suite itself do something */
export async function runSuite(options: SuiteOptions): Promise<SuiteVerdict[]> {
  const { signal } = options;
  const stage = createStage(options);
  const verdicts: SuiteVerdict[] = [];
  const judge = async ({ group, name, play }: Scene): Promise<void> => {
    if (signal?.aborted) return;
    const from = performance.now();
    const verdict = { group, name, ...(await play(stage)), ms: Math.round(performance.now() - from) };
    // Of what was not waited for nobody can tell.
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

/** After an error no further attack begins, and those under way end, so that the stage knows all that they made. */
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

/** So many runs have ended, or failed a first time; of a loop, it is cut. */
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
  const met = await poll(0, look, (value) => value >= stage.issues, waitMs);
  const why = `processed ${met} of ${stage.issues} issues`;
  return met === stage.issues ? blocked(why) : gotThrough(why);
}
