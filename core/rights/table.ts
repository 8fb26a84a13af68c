// The table of rights: operation × scope × fields × rows, as the routes declare it. The kernel enforces it, installing reads
// from it which narrowings can be held, docs/scopes.md and the tests are generated from it.
import type { TObject, TSchema } from 'typebox';
import type { Contract } from '../contract/contract.ts';
import { contracts } from '../contracts.ts';
import { namespaceScopes, namespacesOfTeams } from '../events/catalogue.ts';
import { writes, type Writes } from '../lib/schema.ts';
import { readScopeOf, type ScopeRequests } from './rights.ts';

/** What a scope can be narrowed by. */
export interface Narrowable {
  /** All fields that operations under the scope write, or show; empty where fields cannot narrow it. */
  readonly fields: readonly string[];
  /** Whether everything read and written under the scope belongs to a team. */
  readonly teams: boolean;
}

/** What the table knows of an operation; its route says it. */
interface Operation {
  readonly scope: string | null;
  readonly body?: TSchema;
  readonly writes?: readonly string[];
  readonly rows?: 'team' | 'member';
}
type Facts = Pick<Operation, 'body' | 'writes'>;

/** The fields that an operation can write, in the order of its body. */
export function writtenFields({ body, writes: others = [] }: Facts): string[] {
  return [...new Set([...insideOf(body), ...others])];
}

/** The fields that one request writes. @param value its body, checked */
export function fieldsOf({ body, writes: others = [] }: Facts, value: unknown): string[] {
  return [...new Set([...insideOf(body, value ?? {}), ...others])];
}

type Shape = Partial<TObject> & { readonly items?: Partial<TObject>; readonly [writes]?: Writes };

/** The fields that the properties of an object write. @param value the object; absent: any that the schema takes */
function insideOf(schema: Shape | undefined, value?: unknown): string[] {
  const properties = schema?.properties ?? {};
  const given = (value ?? properties) as Readonly<Record<string, unknown>>;
  return Object.keys(given).flatMap((name) =>
    writtenBy(name, properties[name], value === undefined ? undefined : given[name]),
  );
}

function writtenBy(name: string, schema: Shape | undefined, value: unknown): readonly string[] {
  const marked = schema?.[writes];
  if (marked === 'inside') return insideOf(schema, value);
  if (marked) return marked;
  // The objects in a list, as the body of a bulk operation has one.
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
    fields: scope === read ? shownFields(scope) : [...new Set(own.flatMap(writtenFields))],
    teams:
      reading.length > 0 &&
      reading.every(({ rows }) => rows === 'team') &&
      events.every((namespace) => namespacesOfTeams.includes(namespace)),
  };
}

/** What the objects of a namespace show, where plugins read these one by one; nothing else under the scope is held to fields. */
function shownFields(scope: string): string[] {
  const contract = contracts.find(({ path }) => `${path}:read` === scope) as Contract | undefined;
  const isRead = contract?.calls?.some((call) => call === 'get' || call === 'list') ?? false;
  return contract && isRead ? Object.keys(contract.fields) : [];
}

/** Whether an operation shows the objects of its scope's namespace, and nothing else: then fields can narrow it. */
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
  /** Where it stands among the requests: `issues:write.fields.0`. */
  readonly path: string;
  readonly fix: string;
}

/** The first narrowing that a door could not hold; null when all hold. */
export function unheldNarrowing(routes: readonly Operation[], requests: ScopeRequests): Unheld | null {
  for (const [scope, { fields = null, where = {} }] of Object.entries(requests)) {
    const held = narrowable(routes, scope);
    const unheld = (fields && unheldFields(scope, fields, held, requests)) ?? unheldRows(scope, where, held);
    if (unheld) return unheld;
  }
  return null;
}

function unheldFields(
  scope: string,
  fields: readonly string[],
  held: Narrowable,
  requests: ScopeRequests,
): Unheld | null {
  const path = `${scope}.fields`;
  if (held.fields.length === 0)
    return { path, fix: `Leave them out: ${scope} has nothing that fields could narrow.` };
  const wider = scope.replace(/:read$/, ':write');
  if (wider !== scope && wider in requests)
    return { path, fix: `Leave them out: ${wider} reads all fields.` };
  const unknown = fields.findIndex((name) => !held.fields.includes(name));
  if (unknown < 0) return null;
  return {
    path: `${path}.${unknown}`,
    fix: `Use fields that ${scope} has, which ${fields[unknown]} is not: ${held.fields.join(', ')}.`,
  };
}

function unheldRows(scope: string, where: object, { teams }: Narrowable): Unheld | null {
  const word = Object.keys(where).find((name) => name !== 'team' || !teams);
  if (word === undefined) return null;
  return {
    path: `${scope}.where.${word}`,
    fix: `${teams ? 'Use team, or leave' : 'Leave'} it out: ${scope} cannot be narrowed by ${word}, so nothing would hold it.`,
  };
}
