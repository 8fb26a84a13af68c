// Facts for the replay check: the columns of a row that must match the last event of its object.
import {
  type Data,
  equal,
  type Fact,
  fact,
  idOf,
  type References,
  type RowSubject,
  timeOf,
} from '../../kernel/checks.ts';
import type { Contract } from '../../kernel/contract/contract.ts';
import type { Field, FieldOptions, Reference, ReferenceTarget } from '../../kernel/contract/field.ts';
import { actorParts, isReference, storedName } from '../../kernel/contract/schemas.ts';
import { snake } from '../../platform/lib/text/words.ts';
import { features, storedModels } from '../features.ts';

/** @returns the derived facts, with special facts in place of those of the same name */
export function factsOf(contract: Contract, references: References): readonly Fact[] {
  const special = features.flatMap(({ facts }) => facts?.[contract.name]?.(references) ?? []);
  const plain = [...fieldFacts(contract, references), ...builtInFacts(contract)];
  const names = new Set(special.map(({ name }) => name));
  return [...plain.filter(({ name }) => !names.has(name)), ...special];
}

function fieldFacts({ fields }: Contract, references: References): Fact[] {
  return Object.entries(fields).flatMap(([name, field]): Fact[] => {
    if (field.options.computed || field.options.unlogged) return [];
    if (field.type === 'actor') return actorFacts(name);
    if (isReference(field)) return [referenceFact(name, field, references)];
    return isRenderedAsStored(field) ? [valueFact(name, field)] : [];
  });
}

/** Returns false for the labels of a template, which are stored by id and shown with their names. */
const isRenderedAsStored = ({ type, input, response }: Field): boolean =>
  type !== 'json' || JSON.stringify(input) === JSON.stringify(response);

function valueFact(name: string, { type }: Field): Fact {
  const column = snake(name);
  if (type === 'json') return equal(name, `${column}_json`, (data) => data[name]);
  if (type === 'time') return equal(name, column, (data) => timeOf(data[name]));
  if (type === 'flag') return equal(name, column, (data) => (name in data ? Number(data[name]) : undefined));
  return equal(name, column, (data) => data[name]);
}

function actorFacts(name: string): Fact[] {
  return actorParts(name).map((part) => {
    const key = part.slice(name.length).toLowerCase();
    const logged = (data: Data): unknown => {
      if (data[name] === undefined) return undefined;
      return (data[name] as Data | null)?.[key] ?? null;
    };
    return equal(name, snake(part), logged);
  });
}

type Refers = Reference<ReferenceTarget, string, unknown, FieldOptions>;

function referenceFact(name: string, field: Refers, references: References): Fact {
  const { to, by } = field;
  const column = snake(storedName(name, field));
  return fact(name, [column], (row, { data }) => {
    const [logged, stored] = [data[name], row[column] ?? null];
    if (logged === undefined) return true;
    // An event contains null for a reference to an object that was deleted earlier.
    if (logged === null || logged === '')
      return stored === null || references.isGone(to.name, row.workspace_id, stored);
    return stored === (by === 'id' ? idOf(logged) : references.teamOf(row.workspace_id, logged));
  });
}

function builtInFacts({ name, events }: Contract): Fact[] {
  const facts = [
    equal('version', 'version', ({ version }) => version),
    equal('createdAt', 'created_at', ({ createdAt }) => timeOf(createdAt)),
    equal('updatedAt', 'updated_at', ({ updatedAt }) => timeOf(updatedAt)),
  ];
  return storedModels.get(name)?.retainsDeleted ? [...facts, deletedFact(events.deleted)] : facts;
}

/**
 * Events of entities without restore have no `deletedAt`: the event type marks the deletion, which is also
 * the last update.
 */
function deletedFact(deleted: string | undefined): Fact {
  return fact('deleted', ['deleted_at'], (row, { type, data }) => {
    if (data.deletedAt !== undefined) return row.deleted_at === timeOf(data.deletedAt);
    return row.deleted_at === (type === deleted ? timeOf(data.updatedAt) : null);
  });
}

/**
 * Looks up referenced objects. Reads each table on first use.
 * @param isLogged returns true if the log has an event of the object
 */
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
         AND e.entity_type = 'field' AND e.entity_id = f.id AND e.type = 'field.deleted') AS deleted FROM fields AS f`,
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

function lazy<T>(make: () => T): () => T {
  let cached: T | undefined;
  return () => (cached ??= make());
}
