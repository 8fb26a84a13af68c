// Moves the content of old events into archive files. A file is written, synced and verified before one batch
// records it and clears the rows. After a crash before that batch, the next run writes the same file again.
import { tenantStatement } from '../../../platform/store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Scope, type Store } from '../../../platform/store/store.ts';
import { partsText, readParts } from './log.ts';
import type { RowOf } from '../../table/define.ts';
import { eventFileTable, type eventTable } from '../../tables.ts';

/** Limits of one archive file. The event that exceeds the character limit is the last one. */
const eventsMax = 500;
const charactersMax = 4 * 1024 * 1024;
/** Events read before yielding to the event loop. */
const eventsAtOnce = 50;

const nextEvents = tenantStatement<Pick<RowOf<typeof eventTable>, 'sequence' | 'created_at'>>(
  'events.to_archive',
  `SELECT sequence, created_at FROM events WHERE workspace_id = :ws AND sequence >
     (SELECT coalesce(max(last_sequence), 0) FROM event_files WHERE workspace_id = :ws) ORDER BY sequence LIMIT :limit`,
);
const nameFile = eventFileTable.insert('insert');
const letGo = tenantStatement(
  'events.let_go',
  `UPDATE events SET cause_json = '', data_json = '@' || :first, packed = NULL
   WHERE workspace_id = :ws AND sequence >= :first AND sequence <= :last`,
);

/**
 * Archives the oldest events of a workspace that are not archived yet, as one full file. Does nothing until a file is
 * full.
 * @param before only events created before this time, in Unix milliseconds
 * @returns the number of archived events
 */
export async function archiveEvents(
  store: Store,
  scope: Scope,
  { before, nowMs }: { before: number; nowMs: number },
): Promise<number> {
  const events = await store.read(scope, nextEvents, { limit: eventsMax });
  const texts = new Map<number, string>();
  let characters = 0;
  // Only the last event is compared, so a single event written while the clock ran ahead does not block its
  // neighbors.
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
      nameFile(scope, {
        first_sequence: first,
        last_sequence: last,
        bytes,
        sha256,
        created_at: nowMs,
      }),
      tenantOp(scope, letGo, { first, last }),
    ],
    { commitDelayMs: backgroundCommitDelayMs },
  );
  if (!outcome.ok) throw new Error(`Events could not be archived: ${outcome.message}`);
  return texts.size;
}
