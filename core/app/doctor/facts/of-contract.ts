// Collects the facts of an entity: those derived from its contract, and those of `special.ts` and `automation.ts`.
import type { Contract } from '../../../kernel/contract/contract.ts';
import type { Field, FieldOptions, Reference, ReferenceTarget } from '../../../kernel/contract/field.ts';
import { actorParts, isReference, storedName } from '../../../kernel/contract/schemas.ts';
import { snake } from '../../../platform/lib/text/words.ts';
import { storedModels } from '../../features.ts';
import type { Data } from '../checks/rows/last-event.ts';
import { automationFacts } from './automation.ts';
import { equal, fact, idOf, timeOf, type Fact } from './fact.ts';
import type { References } from './references.ts';
import { specialFacts } from './special.ts';

/** @returns the derived facts, with special facts in place of those of the same name */
export function factsOf(contract: Contract, references: References): readonly Fact[] {
  const special = { ...specialFacts, ...automationFacts }[contract.name]?.(references) ?? [];
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

/** Events of entities without restore have no `deletedAt`: the event type marks the deletion, which is also the last update. */
function deletedFact(deleted: string | undefined): Fact {
  return fact('deleted', ['deleted_at'], (row, { type, data }) => {
    if (data.deletedAt !== undefined) return row.deleted_at === timeOf(data.deletedAt);
    return row.deleted_at === (type === deleted ? timeOf(data.updatedAt) : null);
  });
}
