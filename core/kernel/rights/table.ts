// Table of rights: operation × scope × fields × rows, as declared by the routes. The table is enforced at run
// time, restricts the narrowings of plugin installs, and is the source of docs/scopes.md and of tests.
import type { TObject, TSchema } from 'typebox';
import type { Contract } from '../contract/contract.ts';
import { contracts } from '../../features/contracts.ts';
import { namespaceScopes, namespacesOfTeams } from '../events/catalogue.ts';
import { writes, type WrittenFields } from '../../platform/lib/schema.ts';
import { readScopeOf, type ScopeRequests } from './rights.ts';

export interface Narrowable {
  /**
   * Fields that operations under the scope write or return; empty if the scope cannot be narrowed to fields.
   */
  readonly fields: readonly string[];
  /** True if all objects that are read and written under the scope belong to a team. */
  readonly teams: boolean;
}

interface FieldWriter {
  readonly body?: TSchema;
  readonly writes?: readonly string[];
}

/** Declarations of a route. */
interface Operation extends FieldWriter {
  readonly scope: string | null;
  readonly rows?: 'team' | 'member';
}

/** Returns the fields that an operation can write, in the order of its body. */
export function writtenFields({ body, writes: others = [] }: FieldWriter): string[] {
  return [...new Set([...insideOf(body), ...others])];
}

/** @param value validated body of the request */
export function fieldsOf({ body, writes: others = [] }: FieldWriter, value: unknown): string[] {
  return [...new Set([...insideOf(body, value ?? {}), ...others])];
}

type Shape = Partial<TObject> & { readonly items?: Partial<TObject>; readonly [writes]?: WrittenFields };

/**
 * Returns the fields that an object writes.
 * @param value the object; absent for all properties of the schema
 */
function insideOf(schema: Shape | undefined, value?: unknown): string[] {
  const properties = schema?.properties ?? {};
  const input = (value ?? properties) as Readonly<Record<string, unknown>>;
  return Object.keys(input).flatMap((name) =>
    writtenBy(name, properties[name], value === undefined ? undefined : input[name]),
  );
}

function writtenBy(name: string, schema: Shape | undefined, value: unknown): readonly string[] {
  const marked = schema?.[writes];
  if (marked === 'inside') return insideOf(schema, value);
  if (marked) return marked;
  // Covers lists of objects, such as in the body of a bulk operation.
  if (!schema?.items?.properties) return [name];
  const entries = Array.isArray(value) ? value : [undefined];
  return entries.flatMap((entry) => insideOf(schema.items, entry));
}

export function narrowable(routes: readonly Operation[], scope: string): Narrowable {
  const read = readScopeOf(scope);
  const own = routes.filter((route) => route.scope === scope);
  const reading = scope === read ? own : [...own, ...routes.filter((route) => route.scope === read)];
  const events = Object.keys(namespaceScopes).filter((namespace) => namespaceScopes[namespace] === read);
  return {
    fields: scope === read ? readableFields(scope) : [...new Set(own.flatMap(writtenFields))],
    teams:
      reading.length > 0 &&
      reading.every(({ rows }) => rows === 'team') &&
      events.every((namespace) => namespacesOfTeams.includes(namespace)),
  };
}

/**
 * Returns the fields of the objects that plugins read with `get` or `list`. No other read scope can be
 * narrowed to fields.
 */
function readableFields(scope: string): string[] {
  const contract = contracts.find(({ path }) => `${path}:read` === scope) as Contract | undefined;
  const isRead = contract?.calls?.some((call) => call === 'get' || call === 'list') ?? false;
  return contract && isRead ? Object.keys(contract.fields) : [];
}

/** Returns true for `get` and `list` operations of the scope's namespace, which can be narrowed to fields. */
export function showsObjects({
  name,
  scope,
}: {
  readonly name: string;
  readonly scope: string | null;
}): boolean {
  const namespace = scope?.replace(/:read$/, '');
  return name === `${namespace}.get` || name === `${namespace}.list`;
}

export interface Unheld {
  /** Path in the requests, such as `issues:write.fields.0`. */
  readonly path: string;
  readonly fix: string;
}

/** Returns the first narrowing that cannot be enforced; null for none. */
export function unheldNarrowing(routes: readonly Operation[], requests: ScopeRequests): Unheld | null {
  for (const [scope, { fields = null, where = {} }] of Object.entries(requests)) {
    const supported = narrowable(routes, scope);
    const unheld =
      (fields && unheldFields(scope, fields, supported, requests)) ?? unheldRows(scope, where, supported);
    if (unheld) return unheld;
  }
  return null;
}

function unheldFields(
  scope: string,
  fields: readonly string[],
  supported: Narrowable,
  requests: ScopeRequests,
): Unheld | null {
  const path = `${scope}.fields`;
  if (supported.fields.length === 0)
    return { path, fix: `Remove the fields: ${scope} cannot be narrowed to fields.` };
  const wider = scope.replace(/:read$/, ':write');
  if (wider !== scope && wider in requests)
    return { path, fix: `Remove the fields: ${wider} reads all fields.` };
  const unknown = fields.findIndex((name) => !supported.fields.includes(name));
  if (unknown < 0) return null;
  return {
    path: `${path}.${unknown}`,
    fix: `Use fields of ${scope} instead of ${fields[unknown]}: ${supported.fields.join(', ')}.`,
  };
}

function unheldRows(scope: string, where: object, { teams }: Narrowable): Unheld | null {
  const word = Object.keys(where).find((name) => name !== 'team' || !teams);
  if (word === undefined) return null;
  return {
    path: `${scope}.where.${word}`,
    fix: `${teams ? 'Use team, or remove' : 'Remove'} ${word}: ${scope} cannot be narrowed by ${word}.`,
  };
}
