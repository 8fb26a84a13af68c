// Finds objects that the log does not end and that have no row.
import { contracts } from '../../contracts.ts';
import { kinds } from '../kinds.ts';
import { error, some, type Finding } from '../check.ts';
import type { RowSubject } from '../subject.ts';
import type { LastEvents } from './last-events.ts';

/** They are removed without an event once they expire, are revoked or decided, and stay behind where a workspace moves to another server. */
export const ofServer: readonly string[] = ['api_key', 'oauth_app', 'grant', 'webhook', 'plugin', 'proposal'];

export function missingRows({ rows }: Pick<RowSubject, 'rows'>, last: LastEvents): Finding[] {
  return contracts.flatMap(({ name }) => {
    const table = kinds.get(name)?.table;
    if (table === undefined || ofServer.includes(name)) return [];
    const present = new Set(
      rows<{ key: string }>(`SELECT workspace_id || ' ' || id AS key FROM ${table}`).map(({ key }) => key),
    );
    const absent = [...last.of(name)].filter(({ workspaceId, id }) => !present.has(`${workspaceId} ${id}`));
    // In the order of their events, files of old events are read one after the other.
    const missing = absent
      .sort((a, b) => a.sequence - b.sequence)
      .filter(({ workspaceId, id }) => !last.mayBeGone(workspaceId, name, id));
    return missingFrom(
      table,
      missing.map(({ id }) => id),
    );
  });
}

export function missingFrom(table: string, ids: readonly string[]): Finding[] {
  return ids.length > 0
    ? [error(`Missing from ${table}, though the log does not end them: ${some(ids)}.`)]
    : [];
}
