// Attacks a server with hostile plugins, through its REST API alone, and says of each attack whether it was held: nothing reached
// the server, a plugin beside it went on, and the attempt stands in the runs where an operator looks. What it made, it removes.
import type { Call } from '../../../../sdk/client/call.ts';
import { ApiCallError } from '../../../../sdk/client/index.ts';
import { poll } from '../../poll.ts';
import { authority } from './authority.ts';
import { packageOf, type Forged, type Hostile } from './case.ts';
import { escapes } from './escape.ts';
import { exhaustions } from './exhaustion.ts';
import { outside } from './outside.ts';
import { supplyChain } from './supply-chain.ts';

/** The longest lasting first, so that the others are made beside it. */
export const hostiles: readonly Hostile[] = [...exhaustions, ...escapes, ...outside, ...authority];
export const forgeries: readonly Forged[] = supplyChain;

/** Attacks at once: one that hangs does not hold up the others. */
const atOnce = 4;
/** A run is waited for so long; the longest lasts ten seconds. */
const waitMs = 60_000;

export interface Verdict {
  readonly group: number;
  readonly name: string;
  readonly verdict: 'held' | 'got through' | 'not judged';
  /** What it was stopped by, or what it got hold of. */
  readonly why: string;
  readonly ms: number;
}

export interface SuiteOptions {
  readonly call: Call;
  /** The key of the team that the issues are made in. */
  readonly team: string;
  /** The id of an issue that the workspace does not have. */
  readonly stranger: string;
  /** By default all there are. */
  readonly hostiles?: readonly Hostile[];
  readonly forgeries?: readonly Forged[];
  readonly onVerdict?: (verdict: Verdict) => void;
  /** No further attack is begun; what was made is removed. */
  readonly signal?: AbortSignal;
}

interface RunError {
  code: string;
  message: string;
}
interface Run {
  status: string;
  error: RunError | null;
  logs: readonly { message: string }[];
}
interface Issue {
  id: string;
  version: number;
  title: string;
  priority: string;
}

type Found = Pick<Verdict, 'verdict' | 'why'>;

const beside: Hostile = {
  group: 0,
  name: 'beside',
  ends: 'harmless',
  body: `await ctx.kv.increment('met');`,
};

/** What the suite has made on the server. */
function createMade(call: Call) {
  const paths = new Set<string>();
  return {
    add: (path: string): void => void paths.add(path),
    async remove(path: string): Promise<void> {
      await call('DELETE', path);
      paths.delete(path);
    },
    /** All that is left of it; what cannot be removed is thrown once the rest is. */
    async removeAll(): Promise<void> {
      const ended = await Promise.allSettled([...paths].map((path) => this.remove(path)));
      const failed = ended.find((one) => one.status === 'rejected');
      if (failed) throw failed.reason;
    },
  };
}

type Made = ReturnType<typeof createMade>;

/** In the order in which they ended. @throws ApiCallError where the server does not let the suite itself do something */
export async function runSuite(options: SuiteOptions): Promise<Verdict[]> {
  const { call, signal } = options;
  const made = createMade(call);
  const verdicts: Verdict[] = [];
  const judge = async (
    attack: Pick<Verdict, 'group' | 'name'>,
    make: () => Promise<Found>,
  ): Promise<void> => {
    if (signal?.aborted) return;
    const { group, name } = attack;
    const from = performance.now();
    const verdict = { group, name, ...(await make()), ms: Math.round(performance.now() - from) };
    // Of what was not waited for nobody can tell.
    if (signal?.aborted) return;
    verdicts.push(verdict);
    options.onVerdict?.(verdict);
  };
  try {
    const good = packageOf(beside, 'tatami.attack-beside', 'tatami.attack', options.stranger);
    const wide = {
      ...good.manifest,
      on: { 'issue.created': { filter: { title: { startsWith: 'tatami.attack' } } } },
    };
    const peer = await install(call, made, { ...good, manifest: wide });
    const left = [...(options.hostiles ?? hostiles)];
    let issues = 0;
    const work = async (): Promise<void> => {
      for (let hostile = left.shift(); hostile && !signal?.aborted; hostile = left.shift()) {
        const one = hostile;
        issues += one.runs ?? 1;
        await judge(one, () => attack(options, made, one));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    for (const forged of options.forgeries ?? forgeries)
      await judge(forged, () => tryForged(call, made, forged.forge(good)));
    await judge({ group: 0, name: 'a plugin beside them' }, () => judgePeer(call, peer, issues));
    return verdicts;
  } finally {
    await made.removeAll();
  }
}

async function install(call: Call, made: Made, document: object): Promise<string> {
  const { scopes = {} } = (document as { manifest: { scopes?: object } }).manifest;
  const { id } = await call<{ id: string }>('POST', '/plugins', {
    package: document,
    grant: Object.keys(scopes),
    mode: 'apply',
    // What only proposes has not tried the walls.
    probation: false,
  });
  made.add(`/plugins/${id}`);
  return id;
}

async function attack(options: SuiteOptions, made: Made, hostile: Hostile): Promise<Found> {
  const { call, team, stranger } = options;
  const title = `tatami.attack-${hostile.name}`;
  const plugin = await install(call, made, packageOf(hostile, title, title, stranger));
  const issues: Issue[] = [];
  for (let runs = 1; runs <= (hostile.runs ?? 1); runs++) {
    const issue = await call<Issue>('POST', '/issues', { team, title });
    made.add(`/issues/${issue.id}`);
    issues.push(issue);
    await runsOf(options, plugin, hostile, runs);
  }
  const runs = await runsOf(options, plugin, hostile, issues.length);
  const found = judgeRuns(hostile, runs);
  const touched = hostile.isLoop ? [] : await touchedOf(call, issues);
  await made.remove(`/plugins/${plugin}`);
  for (const { id } of issues) await made.remove(`/issues/${id}`);
  return touched.length === 0 ? found : { verdict: 'got through', why: `changed ${touched.join(', ')}` };
}

const isOver = ({ status }: Run): boolean => !['queued', 'running'].includes(status);

/** So many runs, once they have ended, or failed a first time; of a loop, once it is cut. */
async function runsOf(
  { call, signal }: SuiteOptions,
  plugin: string,
  { isLoop }: Hostile,
  count: number,
): Promise<readonly Run[]> {
  const look = async (): Promise<readonly Run[]> =>
    (await call<{ data: readonly Run[] }>('GET', `/plugins/${plugin}/runs?limit=50`)).data;
  const isDone = (runs: readonly Run[]): boolean =>
    signal?.aborted === true ||
    (runs.length >= count && runs.every(isOver) && (!isLoop || runs.some(({ status }) => status === 'dead')));
  return poll<readonly Run[]>([], look, isDone, waitMs);
}

function judgeRuns(hostile: Hostile, runs: readonly Run[]): Found {
  const said = runs.flatMap(({ logs }) => logs.map(({ message }) => message));
  const through = said.find((message) => message.startsWith('found '));
  if (through !== undefined) return { verdict: 'got through', why: through };
  if (runs.some(isFlooded)) return { verdict: 'got through', why: 'its log was not kept short and plain' };
  if (runs.length < (hostile.runs ?? 1) || !runs.every(isOver))
    return { verdict: 'not judged', why: 'its run did not end' };
  const errors = runs.flatMap(({ error }) => error ?? []);
  return hostile.ends === 'stopped'
    ? judgeStopped(hostile, errors, runs.length)
    : judgeEnded(hostile, errors, said);
}

/** Of a loop the one run that is cut counts, of everything else each. */
function judgeStopped({ code, isLoop }: Hostile, errors: readonly RunError[], runs: number): Found {
  const [error] = errors;
  if (!error || (!isLoop && errors.length < runs))
    return { verdict: 'got through', why: 'nothing stopped it' };
  if (code !== undefined && error.code !== code)
    return { verdict: 'not judged', why: `stopped by ${error.code}, not by ${code}: ${error.message}` };
  return { verdict: 'held', why: error.code };
}

function judgeEnded({ ends }: Hostile, [error]: readonly RunError[], said: readonly string[]): Found {
  if (ends === 'either') return { verdict: 'held', why: error ? error.code : 'it found nothing' };
  if (error) return { verdict: 'not judged', why: `${error.code}: ${error.message}` };
  return said.includes('clean')
    ? { verdict: 'held', why: 'it found nothing' }
    : { verdict: 'not judged', why: 'it did not come to its end' };
}

/** A log steers no terminal, and is at most 16 KiB long, but for what says that it was cut. */
function isFlooded({ logs }: Run): boolean {
  const text = logs.map(({ message }) => message).join('');
  return text.length > 20_000 || /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text);
}

/** Titles of those that are not as they were made. */
async function touchedOf(call: Call, issues: readonly Issue[]): Promise<string[]> {
  const now = await Promise.all(issues.map(({ id }) => call<Issue>('GET', `/issues/${id}`)));
  return now.filter(({ version }) => version !== 1).map(({ title }) => title);
}

async function tryForged(call: Call, made: Made, document: unknown): Promise<Found> {
  try {
    const { id } = await call<{ id: string }>('POST', '/plugins', { package: document, grant: [] });
    made.add(`/plugins/${id}`);
    await made.remove(`/plugins/${id}`);
    return { verdict: 'got through', why: 'it was installed' };
  } catch (error) {
    if (!(error instanceof ApiCallError)) throw error;
    if (error.status >= 400 && error.status < 500) return { verdict: 'held', why: error.code };
    return { verdict: 'not judged', why: `${error.status} ${error.message}` };
  }
}

async function judgePeer(call: Call, plugin: string, issues: number): Promise<Found> {
  const look = async (): Promise<number> =>
    call<{ value: number }>('GET', `/plugins/${plugin}/kv/met`).then(
      ({ value }) => value,
      () => 0,
    );
  const met = await poll(0, look, (value) => value >= issues, waitMs);
  return { verdict: met === issues ? 'held' : 'got through', why: `it met ${met} of ${issues} issues` };
}
