// Reads archived events one by one for the checks. Caches one file at a time, so read events in order.
import { partsIn } from '../events/archived.ts';
import { readArchivedSync, type ArchivedFile } from '../store/archive.ts';
import type { Subject } from './subject.ts';

export interface ArchivedEvents {
  /** Returns true if the event is archived. */
  holds(workspaceId: string, sequence: number): boolean;
  /**
   * @param first sequence of the first event in the file
   * @returns data of the event as JSON; null if the file cannot be read
   */
  dataOf(workspaceId: string, first: number, sequence: number): string | null;
  /** Number of events that could not be read. */
  readonly unread: number;
}

/** @param folder `archive` of the data directory */
export function openArchived(folder: string, rows: Subject['rows']): ArchivedEvents {
  let lasts: ReadonlyMap<string, number> | undefined;
  let open: { readonly name: string; readonly texts: ReadonlyMap<number, string> | null } | undefined;

  const unread = new Set<string>();

  const lastOf = (workspaceId: string): number => {
    lasts ??= new Map(
      rows<{ id: string; last: number }>(
        'SELECT workspace_id AS id, max(last_sequence) AS last FROM event_files GROUP BY 1',
      ).map(({ id, last }) => [id, last]),
    );
    return lasts.get(workspaceId) ?? 0;
  };
  const read = (workspaceId: string, first: number): ReadonlyMap<number, string> | null => {
    const [file] = rows<ArchivedFile>(
      `SELECT workspace_id AS workspaceId, first_sequence AS first, last_sequence AS last, sha256 FROM event_files
       WHERE workspace_id = ?1 AND first_sequence = ?2`,
      workspaceId,
      first,
    );
    try {
      return file ? readArchivedSync(folder, file) : null;
    } catch {
      // The `archive` check reports the reason.
      return null;
    }
  };
  return {
    holds: (workspaceId, sequence) => sequence <= lastOf(workspaceId),
    dataOf(workspaceId, first, sequence) {
      const name = `${workspaceId} ${first}`;
      if (open?.name !== name) open = { name, texts: read(workspaceId, first) };
      const text = open.texts?.get(sequence);
      if (text !== undefined) return partsIn(text).data;
      unread.add(`${workspaceId} ${sequence}`);
      return null;
    },
    get unread() {
      return unread.size;
    },
  };
}
