// Removes file contents without an attachment: those of deleted attachments, and uploads whose row was never
// committed because of a crash.
import type { Blobs } from '../store/blobs.ts';
import { systemStatement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

const referencedBlobs = systemStatement<{ sha256: string }>(
  'attachments.blobs_named',
  'a blob is shared by all workspaces, and stays while one of them references it',
  `SELECT DISTINCT sha256 FROM attachments INDEXED BY attachments_blob
   WHERE deleted_at IS NULL AND sha256 IS NOT NULL AND sha256 IN (SELECT value FROM json_each(:names))`,
);

/** @returns the number of removed blobs */
export function sweepBlobs(store: Store, blobs: Blobs): Promise<number> {
  return blobs.sweep(async (names) => {
    const rows = await store.readSystem(referencedBlobs, { names: JSON.stringify(names) });
    return new Set(rows.map(({ sha256 }) => sha256));
  });
}
