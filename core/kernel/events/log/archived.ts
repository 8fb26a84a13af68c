// Reads the content of archived events from their archive files. The row of an archived event stays in the database,
// so lookups, lists and permission checks work as for any other event.
import { ArchiveError } from '../../../platform/store/files/archive.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import type { Parts } from './packing.ts';

const findFile = tenantStatement<{ first: number; last: number; sha256: string }>(
  'event_files.find',
  `SELECT first_sequence AS first, last_sequence AS last, sha256 FROM event_files
   WHERE workspace_id = :ws AND first_sequence = :first`,
);

/** Returns one line of an archive file, as JSON. */
export const partsText = ({ cause, data }: Parts): string => JSON.stringify([cause, data]);

export function partsIn(text: string): Parts {
  const [cause, data] = JSON.parse(text) as [string, string];
  return { cause, data };
}

/** @param first first sequence in the archive file. @throws ArchiveError */
export async function archivedParts(
  store: Store,
  scope: Scope,
  first: number,
  sequence: number,
): Promise<Parts> {
  const file = await store.readOne(scope, findFile, { first });
  if (!file)
    throw new ArchiveError(
      `The archive file of event ${sequence} is not recorded in the database. Run \`tatami doctor\`.`,
    );
  const text = (await store.archive.read(scope.workspaceId, file)).get(sequence);
  if (text === undefined)
    throw new ArchiveError(
      `Event ${sequence} is missing from its archive file. Restore the file from a backup.`,
    );
  return partsIn(text);
}
