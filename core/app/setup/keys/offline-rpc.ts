// The operator API of a data directory while no server runs.
import { directoryLoaders } from '../../features.ts';
import { directorySection } from '../../../kernel/resource/directory.ts';
import { openOffline } from '../offline.ts';
import { createOperatorRpc } from '../operator-rpc.ts';
import type { OperatorRpc } from '../rpc-schemas.ts';

export interface OfflineRpc {
  readonly rpc: OperatorRpc;
  close(): Promise<void>;
}

/** @throws Error if a server uses the directory, or it cannot be opened */
export function openOfflineRpc(dataDir: string, baseUrl: string, nowMs: () => number): OfflineRpc {
  const { store, ids, committer, close } = openOffline(dataDir, baseUrl, nowMs);
  const { load } = directorySection(store, directoryLoaders);
  return { rpc: createOperatorRpc({ store, ids, committer, baseUrl, directoryOf: load, nowMs }), close };
}
