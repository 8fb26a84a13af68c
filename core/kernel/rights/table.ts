// Scopes, `<namespace>:<read|write>` (docs/spec/api.md › Scopes), and the table of rights: operation × scope
// × fields × rows, as declared by the routes. The table is enforced at run time, restricts the narrowings of
// plugin installs, and is the source of docs/scopes.md and of tests.
import type { TObject, TSchema } from 'typebox';
import { contracts } from '../../features/contracts.ts';
import { writes, type WrittenFields } from '../../platform/lib/schema.ts';
import { listed } from '../../platform/lib/text/words.ts';
import type { Contract } from '../contract/contract.ts';
import { namespaceScopes, namespacesOfTeams } from '../events/catalogue.ts';
import { readScopeOf, type Rights, type ScopeRequests } from './rights.ts';
import type { Membership } from './roles.ts';

const namespaces = new Set(contracts.map(({ path, scope = path }) => scope));

export const allScopes: readonly string[] = [
  ...new Set([
    ...[...namespaces].flatMap((namespace) => [`${namespace}:read`, `${namespace}:write`]),
    ...contracts.flatMap(({ subscriptionScope }: Contract) => subscriptionScope ?? []),
    'approvals:write',
    'audit:read',
    'backtests:write',
    'events:read',
    'import:write',
  ]),
];

/** Scopes that another scope includes, but that can also be granted separately. */
const parts: Readonly<Record<string, string>> = { 'plugins:write': 'backtests:write' };

/** Returns the scopes plus the reads that writes imply and the included scopes. */
export function expandScopes(scopes: readonly string[]): ReadonlySet<string> {
  const all = new Set(scopes);
  for (const scope of scopes) {
    all.add(readScopeOf(scope));
    const part = parts[scope];
    if (part !== undefined) all.add(part);
  }
  return all;
}

interface Narrowable {
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

/** Narrowing in the format of manifests and installations. */
export interface Narrowed {
  readonly fields?: readonly string[] | null | undefined;
  readonly where?: Readonly<Record<string, readonly string[]>> | null | undefined;
}

/** Sentences for scopes that are not about reading and writing the objects of a resource. */
const special: Readonly<Record<string, string>> = {
  'approvals:write': 'Approve and reject proposals.',
  'audit:read': 'Read the audit log.',
  'automations:read': 'Read automations, and events of runs, proposals and undos.',
  'automations:write':
    'Read and change automations, read events of runs, proposals and undos, and call actions of plugins that send data to other servers.',
  'backtests:write': 'Backtest installed plugins on recorded events.',
  'import:write': 'Import issues on behalf of other members.',
  'inbox:read': 'Read the inbox and its preferences.',
  'inbox:write': 'Read the inbox, and change its items and preferences.',
  'plugins:write':
    'Read plugins, their logs and their stored values, and install, change and remove plugins.',
  'preferences:read': 'Read preferences and favorites of the member.',
  'preferences:write': 'Read and change preferences and favorites of the member.',
  'proposals:write': 'Read proposals, and propose changes for approval.',
  'workspace:read': 'Read the settings of the workspace.',
  'workspace:write': 'Read and change the settings of the workspace.',
};

const properNames: Readonly<Record<string, string>> = { api: 'API', oauth: 'OAuth', sla: 'SLA' };

/** Returns the name of objects in a sentence, such as `SLA policies`. */
const namesOf = (path: string): string =>
  path
    .split('-')
    .map((word) => properNames[word] ?? word)
    .join(' ');

/**
 * Describes a scope in a sentence for consent pages, such as `Read issues, and write only their priority, of
 * team ENG only.`, or for a full write scope `Read issues, and create, change and delete them.`
 */
export function sentenceOf(scope: string, { fields, where }: Narrowed): string {
  const own = fields || where ? undefined : special[scope];
  if (own !== undefined) return own;
  const things = namesOf(scope.split(':')[0] ?? scope);
  const of = Object.entries(where ?? {}).map(([word, values]) => `${word} ${listed(values, 'or')}`);
  const rows = of.length > 0 ? `, of ${of.join(' and ')} only` : '';
  if (readScopeOf(scope) === scope)
    return fields
      ? `Read only ${listed(fields, 'and')} of ${things}${rows}.`
      : `Read ${things}, with all their fields${rows}.`;
  const written = fields ? `write only their ${listed(fields, 'and')}` : writingOf(scope);
  return `Read ${things}, and ${written}${rows}.`;
}

const ofScope = (scope: string): Contract[] =>
  contracts.filter(({ path, scope: shared = path }: Contract) => scope === `${shared}:write`);

/** Returns the verbs of a full write scope, such as `create, change and delete them`. */
function writingOf(scope: string): string {
  const own = ofScope(scope).find(({ path }) => `${path}:write` === scope);
  if (!own) return 'write all their fields';
  // A resource can have custom operations instead of the default ones; their events show which ones exist.
  const { events, operations } = own;
  const can = {
    create: operations.create ?? events.created,
    change: operations.update ?? events.updated,
    delete: operations.delete ?? events.deleted,
  };
  const verbs = Object.entries(can).flatMap(([verb, known]) => (known ? [verb] : []));
  return verbs.length === 0 ? 'write all their fields' : `${listed(verbs, 'and')} them`;
}

/**
 * Returns a warning, with a leading space, for objects that cannot be restored after deletion; '' for none.
 */
function lossOf(scope: string): string {
  const lost = ofScope(scope).filter(({ operations: { delete: gone, restore } }) => gone && !restore);
  const names = lost.map(({ path }) => namesOf(path));
  return names.length === 0 ? '' : ` Deleted ${listed(names, 'and')} cannot be restored.`;
}

/** Returns a sentence for the consent page of an app, with a warning about deletions. */
export function consentSentenceOf(scope: string): string {
  return sentenceOf(scope, {}) + lossOf(scope);
}

interface Holder {
  readonly actor: { readonly kind: string };
  /** Membership of the member that the actor acts for. */
  readonly membership?: Membership | undefined;
}

/**
 * Returns the cause of a missing scope as a part of a sentence: the role of the member if none of the
 * member's tokens can have the scope, otherwise the token.
 */
export function holderOf({ actor, membership }: Holder, scope: string): string {
  if (membership && !holds(membership.rights, scope))
    return `the role ${membership.role} of ${membership.name}`;
  return actor.kind === 'plugin' ? "the plugin's grant" : 'the token';
}

function holds({ scopes, narrowed }: Rights, scope: string): boolean {
  return scopes.has(scope) || (narrowed?.has(scope) ?? false);
}
