// Moves what old events say into files beside the database. The file is written, synced and read again before the rows let go of it, in
// one batch with the row that names the file; a process that dies in between writes the same file again.
import { tenantStatement } from '../store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Scope, type Store } from '../store/store.ts';
import { partsText } from './archived.ts';
import { readParts } from './log.ts';

/** A file ends after so many events, or after the one that passes so many characters. */
const eventsMax = 500;
const charactersMax = 4 * 1024 * 1024;
/** Events read without a pause. */
const eventsAtOnce = 50;

const nextEvents = tenantStatement<{ sequence: number; created_at: number }>(
  'events.to_archive',
  `SELECT sequence, created_at FROM events WHERE workspace_id = :ws AND sequence >
     (SELECT coalesce(max(last_sequence), 0) FROM event_files WHERE workspace_id = :ws) ORDER BY sequence LIMIT :limit`,
);
const nameFile = tenantStatement(
  'event_files.insert',
  `INSERT INTO event_files (workspace_id, first_sequence, last_sequence, bytes, sha256, created_at)
   VALUES (:ws, :first, :last, :bytes, :sha256, :now)`,
);
const letGo = tenantStatement(
  'events.let_go',
  `UPDATE events SET cause_json = '', data_json = '@' || :first, packed = NULL
   WHERE workspace_id = :ws AND sequence >= :first AND sequence <= :last`,
);

/**
 * One file of the oldest events of a workspace that are in none. Files are full: what does not fill one waits.
 * @param before of the time the events were made
 * @returns how many events it moved
 */
export async function archiveEvents(
  store: Store,
  scope: Scope,
  { before, nowMs }: { before: number; nowMs: number },
): Promise<number> {
  const events = await store.read(scope, nextEvents, { limit: eventsMax });
  const texts = new Map<number, string>();
  let characters = 0;
  // One event that a clock which was ahead has made does not hold up those around it.
  if ((events.at(-1)?.created_at ?? 0) > before) return 0;
  for (const { sequence } of events) {
    const text = partsText(await readParts(store, scope, sequence));
    texts.set(sequence, text);
    characters += text.length;
    if (characters > charactersMax) break;
    if (texts.size % eventsAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (texts.size < eventsMax && characters <= charactersMax) return 0;
  const { first, last, bytes, sha256 } = await store.archive.write(scope.workspaceId, texts);
  const outcome = await store.commit(
    [
      tenantOp(scope, nameFile, { first, last, bytes, sha256, now: nowMs }),
      tenantOp(scope, letGo, { first, last }),
    ],
    { commitDelayMs: backgroundCommitDelayMs },
  );
  if (!outcome.ok) throw new Error(`Events could not be archived: ${outcome.message}`);
  return texts.size;
}
