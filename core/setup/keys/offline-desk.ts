// The desk of a data directory that no server holds.
import { directoryLoaders } from '../../resources.ts';
import { directorySection } from '../../resource/directory.ts';
import { openOffline } from '../offline.ts';
import { createKeyDesk } from './desk.ts';
import type { KeyDesk } from './orders.ts';

export interface OfflineDesk {
  readonly desk: KeyDesk;
  close(): Promise<void>;
}

/** @throws Error where a server holds the directory, or it cannot be opened */
export function openOfflineDesk(dataDir: string, baseUrl: string, nowMs: () => number): OfflineDesk {
  const { store, ids, committer, close } = openOffline(dataDir, baseUrl, nowMs);
  const { load } = directorySection(store, directoryLoaders);
  return { desk: createKeyDesk({ store, ids, committer, baseUrl, directoryOf: load, nowMs }), close };
}
