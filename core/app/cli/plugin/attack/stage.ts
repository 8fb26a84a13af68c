// Where attacks are made: a server, through its REST API alone, and all that was made there, so that nothing of it is left.
import type { Call } from '../../../../../sdk/client/call.ts';
import { ApiCallError } from '../../../../../sdk/client/index.ts';
import { poll } from '../../lib/poll.ts';
import { readAll } from '../../lib/remote.ts';
import { ownPrefix } from './case.ts';

/** A run is waited for so long; the longest lasts ten seconds. */
const waitMs = 60_000;
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
  /** The same server, asked with another key. */
  readonly callAs: (token: string) => Call;
  /** Where it is. */
  readonly server: string;
  /** The key of the team that the issues are made in. */
  readonly team: string;
  /** The id of an issue that the workspace does not have. */
  readonly stranger: string;
  /** No further attack is begun; what was made is removed. */
  readonly signal?: AbortSignal;
}

export interface Stage extends StageOptions {
  /** How many issues were made. */
  readonly issues: number;
  /** Grants what its manifest asks for. @returns the id of the install */
  install(document: object): Promise<string>;
  createIssue(title: string): Promise<AttackIssue>;
  /** Whoever has it can do this and no more. */
  mintKey(scopes: readonly string[]): Promise<Call>;
  /** Of these installs, once that is so, or it is waited for no longer. */
  runs(plugins: readonly string[], isDone: (runs: Runs) => boolean): Promise<Runs>;
  /** Removes what a suite that was interrupted left. @throws ApiCallError, also where the team takes no issue */
  begin(): Promise<void>;
  /** Paths that were made otherwise. */
  add(path: string): void;
  remove(...paths: readonly string[]): Promise<void>;
  /** All that is left; what cannot be removed is thrown once the rest is. */
  removeAll(): Promise<void>;
}

export const isOver = ({ status }: AttackRun): boolean => !['queued', 'running'].includes(status);

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
        // What only proposes has not tried the walls.
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
      return poll(await look(), look, (runs) => signal?.aborted === true || isDone(runs), waitMs);
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

/** Throws the first error once all have ended, so that none goes on unseen. */
export async function allEnded(work: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(work);
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

/** The paths of what an earlier suite made and did not remove, known by its ids, titles and the name of its keys. */
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

/** Groups that make no keys run with a token that may not read them. */
function noneWithoutScope(error: unknown): [] {
  if (error instanceof ApiCallError && error.code === 'insufficient_scope') return [];
  throw error;
}
