// Names at a past moment: references in a response show the names that the referenced objects had at that
// moment.
import type { TObject } from 'typebox';
import type { Context, Directory } from '../../context.ts';
import type { Contract } from '../../contract/contract.ts';
import type { Field, ReferenceTarget } from '../../contract/field.ts';
import { isReference, storedName } from '../../contract/schemas.ts';
import { contracts } from '../../../features/contracts.ts';
import { entriesOf, type DirectoryEntry } from '../directory.ts';
import { idsByName } from '../names/names.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Moment } from './past.ts';
import { isSubject, objectsAt, type Was } from './objects.ts';

/** Contracts of the directory, whose names other objects show. */
const naming = contracts.filter(({ directory }) => directory);

const changedOfEntities = tenantStatement<{ kind: string; id: string }>(
  'history.named_since',
  `SELECT DISTINCT entity_type AS kind, entity_id AS id FROM events INDEXED BY events_object
   WHERE workspace_id = :ws AND issue_id IS NULL AND entity_type IN (SELECT value FROM json_each(:kinds)) AND sequence > :at`,
);
const changedOf = tenantStatement<{ kind: string; id: string }>(
  'history.named_since_of',
  `SELECT value->>0 AS kind, value->>1 AS id FROM json_each(:objects)
   WHERE EXISTS (SELECT 1 FROM events AS e INDEXED BY events_object WHERE e.workspace_id = :ws AND e.issue_id IS NULL
     AND e.entity_type = value->>0 AND e.entity_id = value->>1 AND e.sequence > :at)`,
);

const changedOfSubjects = tenantStatement<{ kind: string; id: string }>(
  'as_of.subjects_since',
  `SELECT value->>0 AS kind, value->>1 AS id FROM json_each(:objects)
   WHERE EXISTS (SELECT 1 FROM events AS e INDEXED BY events_issue WHERE e.workspace_id = :ws AND e.issue_id = value->>1
     AND e.entity_type = value->>0 AND e.sequence > :at)`,
);

/** @param of objects whose names are needed, as pairs of entity and id; default all */
export async function directoryAt(ctx: Context, moment: Moment, of?: ObjectReferences): Promise<Directory> {
  const { directory } = ctx;
  const changed = await changedSince(ctx, moment, of);
  if (changed.length === 0) return directory;
  const sections: Record<string, Map<string, DirectoryEntry>> = {};
  for (const contract of naming) {
    const ids = changed.flatMap(({ kind, id }) => (kind === contract.name ? [id] : []));
    if (ids.length === 0) continue;
    const now = entriesOf(directory, contract);
    const then = (sections[contract.directory!.as] = new Map(now));
    const were = await objectsAt(ctx, contract, ids, moment);
    for (const id of ids) {
      const was = were.get(id);
      if (was && (was.deletedAt ?? null) === null)
        then.set(id, entryOf(contract, was, directory, now.get(id)));
      else if (was && contract.directory?.withDeleted)
        then.set(id, { ...entryOf(contract, was, directory, now.get(id)), removed: true });
      else then.delete(id);
    }
  }
  return { ...directory, ...sections } as Directory;
}

type ObjectReferences = readonly (readonly [kind: string, id: string])[];

/** Returns the objects of the directory that changed after the moment. */
async function changedSince(
  { store, scope, directory }: Context,
  { sequence: at }: Moment,
  of: ObjectReferences | undefined,
): Promise<readonly { readonly kind: string; readonly id: string }[]> {
  const inOwn = naming.filter(isSubject);
  const own = of
    ? of.filter(([kind]) => inOwn.some(({ name }) => name === kind))
    : inOwn.flatMap((contract) =>
        [...entriesOf(directory, contract).keys()].map((id) => [contract.name, id]),
      );
  const subjects =
    own.length === 0 ? [] : await store.read(scope, changedOfSubjects, { objects: JSON.stringify(own), at });
  const others = of
    ? await store.read(scope, changedOf, { objects: JSON.stringify(of), at })
    : await store.read(scope, changedOfEntities, {
        kinds: JSON.stringify(naming.map(({ name }) => name)),
        at,
      });
  return [...others, ...subjects];
}

/** Returns the directory entry of an object in its past state. */
function entryOf(
  contract: Contract,
  was: Was,
  directory: Directory,
  now: DirectoryEntry | undefined,
): DirectoryEntry {
  const { entryFields = [], withDeleted } = contract.directory ?? {};
  const entry: Record<string, unknown> = { ...now, id: was.id };
  for (const [name, field] of Object.entries(contract.fields)) {
    const storedKey = storedName(name, field);
    if (!entryFields.includes(storedKey)) continue;
    entry[storedKey] = isReference(field)
      ? idOf(field, was[name], directory)
      : storedValueOf(field, was[name]);
  }
  if (withDeleted) entry.removed = false;
  return entry as DirectoryEntry;
}

/** Times are stored in milliseconds. */
const storedValueOf = ({ type }: Field, source: unknown): unknown =>
  type === 'time' && typeof source === 'string' ? Date.parse(source) : source;

/** Returns the id of a referenced object, which a response shows by id or by a unique field. */
function idOf(
  { to, by }: { to: ReferenceTarget; by: string },
  source: unknown,
  directory: Directory,
): string | null {
  if (source === null || source === undefined) return null;
  if (by === 'id') return (source as { id: string }).id;
  return idsByName(entriesOf(directory, to), by, String(source))[0] ?? null;
}

/** Returns the objects in the directory that an object refers to, each by entity and id. */
export function referredIn(contract: Contract, source: Was): [kind: string, id: string][] {
  return Object.entries(contract.fields).flatMap(([name, field]) => {
    const value = source[name];
    if (!isReference(field) || !field.to.directory || field.by !== 'id' || value === null) return [];
    return [[field.to.name, (value as { id: string }).id]] as [string, string][];
  });
}

/** Replaces the names of referenced objects by those in the directory. */
export function renamed(contract: Contract, source: Was, directory: Directory): Was {
  const all: Record<string, unknown> & { id: string } = { ...source };
  for (const [name, field] of Object.entries(contract.fields)) {
    const value = source[name];
    if (!isReference(field) || !field.to.directory || field.by !== 'id' || value === null) continue;
    const { id } = value as { id: string };
    const known = entriesOf(directory, field.to).get(id);
    const parts = Object.keys((field.response as Partial<TObject>).properties ?? {});
    all[name] = Object.fromEntries(parts.map((part) => [part, part === 'id' ? id : (known?.[part] ?? '')]));
  }
  return all;
}
