// Types and checks of all contracts. Scopes, event types, ids, the directory, the types of the SDK and the tests
// derive from the contracts.
import { Check } from 'typebox/value';
import type { Contract, Entry, EventTypeOf } from '../kernel/contract/contract.ts';
import { idPrefixes } from '../platform/lib/ids.ts';
import { all } from './generated/contracts.ts';

type KnownContract = (typeof all)[number];
export type ContractEvent = EventTypeOf<KnownContract>;

type InDirectory = Extract<KnownContract, { readonly directory: object }>;
/** Small, frequently read entities of a workspace, cached in memory; ids in other objects refer to them. */
export type Directory = {
  readonly [C in InDirectory as C['directory']['as']]: ReadonlyMap<string, Entry<C>>;
};

export const contracts: readonly Contract[] = all;

/** @throws Error if two contracts claim the same name, or a contract would fail only at a request */
export function checkContracts(list: readonly Contract[]): void {
  for (const contract of list) checkFields(contract);
  const claimed = new Map<string, string>(
    Object.entries(idPrefixes).map(([owner, prefix]) => [`id prefix ${prefix}`, owner]),
  );
  for (const contract of list)
    for (const claim of claimsOf(contract)) {
      const other = claimed.get(claim);
      if (other !== undefined) throw new Error(`${contract.name} and ${other} both claim the ${claim}.`);
      claimed.set(claim, contract.name);
    }
}

/** Fields of every object. */
const builtIn = ['id', 'version', 'createdAt', 'updatedAt', 'deletedAt'];

function checkFields({ name, operations, fields }: Contract): void {
  for (const [field, { type, input, options }] of Object.entries(fields)) {
    const at = `${name}.${field}`;
    if (builtIn.includes(field))
      throw new Error(`${at} is a built-in field of every object. Give the field another name.`);
    const { required, nullable, computed, write, default: value } = options;
    if (value === undefined) {
      const isAlwaysSet = required || nullable || computed || type === 'actor' || write === 'never';
      if ('create' in operations && !isAlwaysSet)
        throw new Error(
          `${at} is optional and has no default. Make it required or nullable, or give a default.`,
        );
    } else if (value !== '' && !Check(input, value))
      throw new Error(`${at} has an invalid default: ${JSON.stringify(value)}.`);
  }
}

function claimsOf({ name, path, id, title, directory, events }: Contract): string[] {
  return [
    `name ${name}`,
    `path ${path}`,
    `title ${title}`,
    ...(id === null ? [] : [`id prefix ${id}`]),
    ...(directory ? [`directory section ${directory.as}`] : []),
    ...eventsOf(events).map((type) => `event ${type}`),
  ];
}

/** Returns all event types of a contract, lifecycle first. */
export function eventsOf({
  created,
  updated,
  deleted,
  restored,
  announced,
  other,
}: Contract['events']): string[] {
  const plain = [created, updated, deleted, restored].filter((type) => type !== undefined);
  return [...plain, ...(announced ?? []), ...(other ?? [])];
}

checkContracts(contracts);
