// Old events in files, for checks that read one event after the other. One file is held at a time: whoever reads many events reads them in
// their order.
import { partsIn } from '../events/archived.ts';
import { readArchivedSync, type ArchivedFile } from '../store/archive.ts';
import type { Subject } from './subject.ts';

export interface ArchivedEvents {
  /** True where the event is in a file. */
  holds(workspaceId: string, sequence: number): boolean;
  /**
   * @param first the event that the file begins with
   * @returns data of the event, as JSON; null where the file cannot be read
   */
  dataOf(workspaceId: string, first: number, sequence: number): string | null;
  /** Number of events that were asked for and could not be read. */
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
      // The check of the archive says why.
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
