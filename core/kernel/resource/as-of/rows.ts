// Reconstructs the past row of an object from its event: references by id, times in milliseconds. Values that
// the event does not contain are taken from the current row.
import { isRestorable, type Contract } from '../../contract/contract.ts';
import type { Field } from '../../contract/field.ts';
import { isReference, storedName } from '../../contract/schemas.ts';
import type { Entity } from '../../changes/change.ts';
import type { AsItWas } from '../../changes/read/past.ts';
import type { Directory } from '../../context.ts';
import { entriesOf } from '../directory.ts';
import { idsByName } from '../names/names.ts';

type Wire = Readonly<Record<string, unknown>>;

/** @param more values that do not follow from the contract */
export function rowAsItWas<E extends Entity>(
  contract: Contract,
  more?: (was: Wire, directory: Directory) => Partial<E>,
): AsItWas<E> {
  const fields = Object.entries(contract.fields).filter(([, { options }]) => !options.computed);
  return (now, was, directory) => {
    const row: Record<string, unknown> = { ...(now as Entity) };
    for (const [name, field] of fields) if (name in was) setValue(row, name, field, was[name], directory);
    row.version = was.version ?? now.version;
    for (const time of ['createdAt', 'updatedAt']) row[time] = msOf(was[time]) ?? row[time];
    if (isRestorable(contract)) row.deletedAt = msOf(was.deletedAt);
    return { ...row, ...more?.(was, directory) } as E;
  };
}

function setValue(
  row: Record<string, unknown>,
  name: string,
  field: Field,
  value: unknown,
  directory: Directory,
): void {
  if (field.type === 'actor') {
    const { kind = null, id = null, name: called = null } = (value ?? {}) as Record<string, unknown>;
    Object.assign(row, { [`${name}Kind`]: kind, [`${name}Id`]: id, [`${name}Name`]: called });
  } else if (!isReference(field)) row[name] = field.type === 'time' ? msOf(value) : value;
  else if (value === null) row[storedName(name, field)] = null;
  else if (field.by === 'id') row[storedName(name, field)] = (value as { id: string }).id;
  else {
    const [id] = idsByName(entriesOf(directory, field.to), field.by, String(value));
    if (id !== undefined) row[storedName(name, field)] = id;
  }
}

function msOf(value: unknown): number | null {
  return typeof value === 'string' ? Date.parse(value) : null;
}
