// Finds objects that have no row although the log has no deletion of them.
import { contracts } from '../../../../features/contracts.ts';
import { storedModels } from '../../../features.ts';
import { error, some, type Finding } from '../../check.ts';
import type { RowSubject } from '../../subject.ts';
import type { LastEvents } from './last-events.ts';

/** Entities whose rows are removed without an event after expiry, revocation or decision, and are not exported with a workspace. */
export const ofServer: readonly string[] = ['api_key', 'oauth_app', 'grant', 'webhook', 'plugin', 'proposal'];

export function missingRows({ rows }: RowSubject, last: LastEvents): Finding[] {
  return contracts.flatMap(({ name }) => {
    const table = storedModels.get(name)?.table;
    if (table === undefined || ofServer.includes(name)) return [];
    const present = new Set(
      rows<{ key: string }>(`SELECT workspace_id || ' ' || id AS key FROM ${table}`).map(({ key }) => key),
    );
    const absent = [...last.of(name)].filter(({ workspaceId, id }) => !present.has(`${workspaceId} ${id}`));
    // The objects are sorted by event, so that each archive file is read only once.
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
    ? [
        error(
          `Rows are missing from ${table}, but the log has no deletion of them: ${some(ids)}. Restore a backup.`,
        ),
      ]
    : [];
}
