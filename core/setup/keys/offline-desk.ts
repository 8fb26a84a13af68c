// The operator API of a data directory while no server runs.
import { directoryLoaders } from '../../resources.ts';
import { directorySection } from '../../resource/directory.ts';
import { openOffline } from '../offline.ts';
import { createOperatorDesk } from '../desk.ts';
import type { OperatorDesk } from '../orders.ts';

export interface OfflineDesk {
  readonly desk: OperatorDesk;
  close(): Promise<void>;
}

/** @throws Error if a server uses the directory, or it cannot be opened */
export function openOfflineDesk(dataDir: string, baseUrl: string, nowMs: () => number): OfflineDesk {
  const { store, ids, committer, close } = openOffline(dataDir, baseUrl, nowMs);
  const { load } = directorySection(store, directoryLoaders);
  return { desk: createOperatorDesk({ store, ids, committer, baseUrl, directoryOf: load, nowMs }), close };
}
