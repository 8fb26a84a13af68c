// What an old event says, from the file that it was moved to. Its row stays, so that it is found, listed and judged as any other.
import { ArchiveError } from '../store/archive.ts';
import { tenantStatement } from '../store/statement.ts';
import type { Scope, Store } from '../store/store.ts';
import type { Parts } from './packing.ts';

const findFile = tenantStatement<{ first: number; last: number; sha256: string }>(
  'event_files.find',
  `SELECT first_sequence AS first, last_sequence AS last, sha256 FROM event_files
   WHERE workspace_id = :ws AND first_sequence = :first`,
);

/** JSON, as a line of a file holds it. */
export const partsText = ({ cause, data }: Parts): string => JSON.stringify([cause, data]);

/** Content of an archived event. */
export function partsIn(text: string): Parts {
  const [cause, data] = JSON.parse(text) as [string, string];
  return { cause, data };
}

/** @param first the sequence that its file begins with. @throws ArchiveError */
export async function archivedParts(
  store: Store,
  scope: Scope,
  first: number,
  sequence: number,
): Promise<Parts> {
  const file = await store.readOne(scope, findFile, { first });
  if (!file) throw new ArchiveError(`Nothing is known of the archive file that holds the event ${sequence}.`);
  const text = (await store.archive.read(scope.workspaceId, file)).get(sequence);
  if (text === undefined) throw new ArchiveError(`The event ${sequence} is not in its archive file.`);
  return partsIn(text);
}
