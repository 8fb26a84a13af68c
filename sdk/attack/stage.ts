// The server under attack, reached only through its REST API. The stage records everything that it creates, and removes it.
import type { Call } from '../client/call.ts';
import { ApiCallError } from '../client/index.ts';
import { listOf } from '../client/list.ts';
import { pause } from '../client/pause.ts';
import { ownPrefix } from './case.ts';

const keyName = 'tatami.attack';

export interface AttackRun {
  readonly id: string;
  readonly status: string;
  readonly error: AttackRunError | null;
  readonly cpuMs: number | null;
  readonly logs: readonly { readonly message: string }[];
}
export type Runs = readonly AttackRun[];
export interface AttackRunError {
  readonly code: string;
  readonly message: string;
}
export interface AttackIssue {
  readonly id: string;
  readonly title: string;
}

export interface StageOptions {
  readonly call: Call;
  /** Calls the same server with another key. */
  readonly callAs: (token: string) => Call;
  /** Address of the server. */
  readonly server: string;
  /** Key of the team in which issues are created. */
  readonly team: string;
  /** Id of an issue that the workspace does not have. */
  readonly stranger: string;
  /** Starts no further attack; everything created is removed. */
  readonly signal?: AbortSignal;
}

export interface Stage extends StageOptions {
  /** Number of created issues. */
  readonly issues: number;
  /** Grants all requested scopes. @returns the id of the install */
  install(document: object): Promise<string>;
  createIssue(title: string): Promise<AttackIssue>;
  /** Creates a key with only these scopes. */
  mintKey(scopes: readonly string[]): Promise<Call>;
  /** Returns the runs of these installs, once `isDone` or the time limit is reached. */
  runs(plugins: readonly string[], isDone: (runs: Runs) => boolean): Promise<Runs>;
  /** Removes the remains of an interrupted suite. @throws ApiCallError, also if the team cannot have issues */
  begin(): Promise<void>;
  /** Records the path of an object that was created without the stage. */
  add(path: string): void;
  remove(...paths: readonly string[]): Promise<void>;
  /** Removes everything that is left, and then throws the first error. */
  removeAll(): Promise<void>;
}

export const isOver = ({ status }: AttackRun): boolean => !['queued', 'running', 'waiting'].includes(status);

export function createStage(options: StageOptions): Stage {
  const { call, callAs, signal, team } = options;
  const made = new Set<string>();
  let issues = 0;
  const remove = async (path: string): Promise<void> => {
    await call('DELETE', path);
    made.delete(path);
  };
  return {
    ...options,
    get issues() {
      return issues;
    },
    async install(document) {
      const { scopes = {} } = (document as { manifest: { scopes?: object } }).manifest;
      const { id } = await call<{ id: string }>('POST', '/plugins', {
        package: document,
        grant: Object.keys(scopes),
        mode: 'apply',
        // Writes that wait for approval would try no limit.
        probation: false,
      });
      made.add(`/plugins/${id}`);
      return id;
    },
    async createIssue(title) {
      const { id } = await call<AttackIssue>('POST', '/issues', { team, title });
      made.add(`/issues/${id}`);
      issues++;
      return { id, title };
    },
    async mintKey(scopes) {
      const { id, key } = await call<{ id: string; key: string }>('POST', '/api-keys', {
        name: keyName,
        scopes,
      });
      made.add(`/api-keys/${id}`);
      return callAs(key);
    },
    async runs(plugins, isDone) {
      const look = async (): Promise<Runs> => {
        const lists = plugins.map((id) => call<{ data: Runs }>('GET', `/plugins/${id}/runs?limit=50`));
        return (await Promise.all(lists)).flatMap(({ data }) => data);
      };
      return poll(look, (runs) => signal?.aborted === true || isDone(runs));
    },
    async begin() {
      await call('POST', '/issues', { team, title: ownPrefix }, { mode: 'simulate' });
      for (const path of await leftOf(call)) await remove(path);
    },
    add: (path) => void made.add(path),
    async remove(...paths) {
      for (const path of paths) await remove(path);
    },
    async removeAll() {
      await allEnded([...made].map(remove));
    },
  };
}

/** Longer than any run, which lasts ten seconds at most. */
const waitMs = 60_000;

/** Looks at growing intervals until the state has ended, or it has been waited for too long. */
export async function poll<T>(look: () => Promise<T>, ended: (state: T) => boolean): Promise<T> {
  const startMs = performance.now();
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 1.5, 1_000)) {
    const state = await look();
    if (ended(state) || performance.now() - startMs > waitMs) return state;
    await pause(pauseMs);
  }
}

/** Reads all pages of a list, whose path may have a query. */
export function readAll<T>(call: Call, path: string): Promise<T[]> {
  const query = `${path}${path.includes('?') ? '&' : '?'}limit=100`;
  return Array.fromAsync(
    listOf<T>((after) => call('GET', after === null ? query : `${query}&after=${encodeURIComponent(after)}`)),
  );
}

/** Waits for all, and then throws the first error, so that none continues unnoticed. */
export async function allEnded(work: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(work);
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

/** Returns the paths of remains of an earlier suite, recognized by plugin ids, issue titles and the name of keys. */
async function leftOf(call: Call): Promise<string[]> {
  const filter = encodeURIComponent(JSON.stringify({ title: { startsWith: ownPrefix } }));
  const [plugins, issues, keys] = await Promise.all([
    readAll<{ id: string; pluginId: string }>(call, '/plugins'),
    readAll<{ id: string }>(call, `/issues?filter=${filter}`),
    readAll<{ id: string; name: string; revokedAt: string | null }>(call, '/api-keys').catch(
      noneWithoutScope,
    ),
  ]);
  return [
    ...plugins.filter(({ pluginId }) => pluginId.startsWith(ownPrefix)).map(({ id }) => `/plugins/${id}`),
    ...issues.map(({ id }) => `/issues/${id}`),
    ...keys
      .filter(({ name, revokedAt }) => name === keyName && revokedAt === null)
      .map(({ id }) => `/api-keys/${id}`),
  ];
}

/** Groups that create no keys also run with a token that cannot list them. */
function noneWithoutScope(error: unknown): [] {
  if (error instanceof ApiCallError && error.code === 'insufficient_scope') return [];
  throw error;
}
