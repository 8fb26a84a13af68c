// Opens a data directory while no server runs: store and committer, without background work. The next server that starts delivers the
// events of these commits.
import { createCommitter, type Committer } from '../../kernel/changes/commit.ts';
import { createFreshEvents } from '../../kernel/events/consumers/fresh.ts';
import { createIds, type Ids } from '../../platform/lib/ids.ts';
import { directoryAfter, directorySection } from '../../kernel/resource/directory.ts';
import { openStore } from '../../platform/store/open-store.ts';
import type { Store } from '../../platform/store/store.ts';
import { delegations, directoryLoaders } from '../features.ts';
import { createOperatorRpc } from './operator-rpc.ts';
import type { OperatorRpc } from './rpc-schemas.ts';

export interface Offline {
  readonly store: Store;
  readonly ids: Ids;
  readonly committer: Committer;
  close(): Promise<void>;
}

/** @throws Error if a server uses the directory, or it cannot be opened */
export function openOffline(dataDir: string, baseUrl: string, nowMs: () => number): Offline {
  const { store, close } = openStore(dataDir, nowMs);
  const ids = createIds(nowMs);
  const committer = createCommitter({
    store,
    ids,
    nowMs,
    baseUrl,
    fresh: createFreshEvents(),
    directoryAfter,
  });
  return { store, ids, committer, close };
}

export interface OfflineRpc {
  readonly rpc: OperatorRpc;
  close(): Promise<void>;
}

/** @throws Error if a server uses the directory, or it cannot be opened */
export function openOfflineRpc(dataDir: string, baseUrl: string, nowMs: () => number): OfflineRpc {
  const { store, ids, committer, close } = openOffline(dataDir, baseUrl, nowMs);
  const { load } = directorySection(store, directoryLoaders);
  const rpc = createOperatorRpc({ store, ids, committer, baseUrl, directoryOf: load, delegations, nowMs });
  return { rpc, close };
}
