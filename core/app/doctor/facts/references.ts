// Looks up referenced objects for the replay check.
import { storedModels } from '../../features.ts';
import type { RowSubject } from '../subject.ts';

export interface References {
  /** Returns true if the object is in the log and was deleted or removed; events then contain null for it. */
  isGone(name: string, workspaceId: unknown, id: unknown): boolean;
  /** Returns the id of the team with this key; undefined for an unknown key. */
  teamOf(workspaceId: unknown, key: unknown): string | undefined;
  fieldOf(workspaceId: unknown, id: string): FieldReferred | undefined;
}

/** Reads each table on first use. @param isLogged returns true if the log has an event of the object */
export function referencesOf(
  { rows }: RowSubject,
  isLogged: (workspaceId: string, name: string, id: string) => boolean,
): References {
  const read = new Map<string, ReadonlySet<string>>();
  const present = (name: string): ReadonlySet<string> => {
    const known = read.get(name) ?? presentIn(name);
    read.set(name, known);
    return known;
  };
  const presentIn = (name: string): ReadonlySet<string> => {
    const model = storedModels.get(name)!;
    const where = model.retainsDeleted ? ' WHERE deleted_at IS NULL' : '';
    const all = rows<Identified>(`SELECT workspace_id, id FROM ${model.table}${where}`);
    return new Set(all.map(({ workspace_id: workspaceId, id }) => `${workspaceId} ${id}`));
  };
  const teams = lazy(() => {
    const all = rows<Identified & { key: string }>('SELECT workspace_id, id, key FROM teams');
    return new Map(all.map(({ workspace_id: workspaceId, key, id }) => [`${workspaceId} ${key}`, id]));
  });
  const fields = lazy(() => {
    const all = rows<Identified & { key: string; deleted: number }>(
      `SELECT workspace_id, id, key, EXISTS (SELECT 1 FROM events AS e WHERE e.workspace_id = f.workspace_id
         AND e.entity_kind = 'field' AND e.entity_id = f.id AND e.type = 'field.deleted') AS deleted FROM fields AS f`,
    );
    return new Map(
      all.map(({ workspace_id: workspaceId, id, key, deleted }) => [
        `${workspaceId} ${id}`,
        { key, wasDeleted: deleted === 1 },
      ]),
    );
  });
  return {
    isGone: (name, workspaceId, id) =>
      isLogged(String(workspaceId), name, String(id)) &&
      !present(name).has(`${String(workspaceId)} ${String(id)}`),
    teamOf: (workspaceId, key) => teams().get(`${String(workspaceId)} ${String(key)}`),
    fieldOf: (workspaceId, id) => fields().get(`${String(workspaceId)} ${id}`),
  };
}

interface Identified {
  readonly workspace_id: string;
  readonly id: string;
}

interface FieldReferred {
  readonly key: string;
  /** True if the field was deleted; events do not contain values of a deleted field. */
  readonly wasDeleted: boolean;
}

function lazy<T>(make: () => T): () => T {
  let cached: T | undefined;
  return () => (cached ??= make());
}
