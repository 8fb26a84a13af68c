// The desk of a data directory that no server holds.
import { directoryLoaders } from '../../resources.ts';
import { directorySection } from '../../resource/directory.ts';
import { openOffline } from '../offline.ts';
import { createOperatorDesk } from '../desk.ts';
import type { OperatorDesk } from '../orders.ts';

export interface OfflineDesk {
  readonly desk: OperatorDesk;
  close(): Promise<void>;
}

/** @throws Error where a server holds the directory, or it cannot be opened */
export function openOfflineDesk(dataDir: string, baseUrl: string, nowMs: () => number): OfflineDesk {
  const { store, ids, committer, close } = openOffline(dataDir, baseUrl, nowMs);
  const { load } = directorySection(store, directoryLoaders);
  return { desk: createOperatorDesk({ store, ids, committer, baseUrl, directoryOf: load, nowMs }), close };
}
