// Finds workspaces, members and keys by id or name, members also by address and keys by prefix.
import { apiKeyModel, type ApiKey, publicPartOf } from '../../features/api-keys/index.ts';
import { noWorkspace } from './rpc-schemas.ts';
import { addressKey } from '../../platform/lib/address.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { systemStatement, tenantStatement } from '../../platform/store/statement.ts';
import { scopeOf, type Scope, type Store, StoreError } from '../../platform/store/store.ts';
import { tableOf } from '../../features/tables.ts';

interface IdAndName {
  readonly id: string;
  readonly name: string;
}

const listWorkspaces = systemStatement<IdAndName>(
  'workspaces.of_operator',
  'the operator can list all workspaces',
  'SELECT id, name FROM workspaces ORDER BY created_at LIMIT 1000',
);
const findKeys = systemStatement<{ workspace_id: string; id: string; exact: 0 | 1 }>(
  'api_keys.of_operator',
  'the operator can name a key of any workspace',
  `SELECT workspace_id, id, id = :given OR prefix = :given AS exact FROM api_keys
   WHERE id = :given OR prefix = :given OR (name = :given AND revoked_at IS NULL AND replaced_by IS NULL)
   ORDER BY exact DESC LIMIT 20`,
);
export const readKey = tableOf.api_keys.selectAll('read', ['id']);
/** A text with an @ matches only addresses, not names. */
const findMembers = tenantStatement<IdAndName & { exact: 0 | 1 }>(
  'members.named',
  `SELECT id, name, id = :given OR coalesce(email_key = :key, 0) AS exact FROM members WHERE workspace_id = :ws AND deleted_at IS NULL
     AND (id = :given OR email_key = :key OR (lower(name) = lower(:given) AND instr(:given, '@') = 0))
   ORDER BY exact DESC LIMIT 20`,
);
const listMembers = tableOf.members.select(
  'of_operator',
  ['id', 'name'],
  [],
  'AND deleted_at IS NULL ORDER BY created_at LIMIT 21',
);
const firstOwner = tableOf.members.select(
  'first_owner',
  ['id', 'name'],
  [],
  "AND role = 'owner' AND deleted_at IS NULL ORDER BY created_at LIMIT 1",
);

/** Returns the first 1000 workspaces, oldest first. */
export function workspacesOf(store: Store): Promise<IdAndName[]> {
  return store.readSystem(listWorkspaces);
}

/** @throws ApiError not_found if the workspace does not exist, or is not named although there are several */
export async function findWorkspace(store: Store, reference: string | undefined): Promise<IdAndName> {
  const all = await workspacesOf(store);
  if (reference === undefined && all.length === 1) return all[0]!;
  const candidates = all.filter(({ id, name }) => reference === id || reference === name);
  const matching = exactOrAll(candidates.map((one) => ({ ...one, exact: one.id === reference })));
  if (matching.length === 1) return matching[0]!;
  if (all.length === 0) throw new ApiError('not_found', noWorkspace);
  if (reference === undefined)
    throw new ApiError('not_found', `Name the workspace with --workspace. Workspaces: ${namesOf(all)}.`);
  throw matching.length > 1
    ? new ApiError(
        'not_found',
        `Several workspaces are named ${reference}. Give the id: ${namesOf(matching)}.`,
      )
    : new ApiError('not_found', `There is no workspace ${reference}. Workspaces: ${namesOf(all)}.`);
}

/** @param reference id, address or name; the first owner if absent. @throws ApiError not_found */
export async function findMember(
  store: Store,
  scope: Scope,
  reference: string | undefined,
): Promise<IdAndName> {
  if (reference === undefined) {
    const owner = await firstOwner.one(store, scope, {});
    if (owner) return owner;
    throw new ApiError(
      'not_found',
      'The workspace has no owner. Name the member that the key acts for with --member.',
    );
  }
  const [member, ...others] = exactOrAll(
    await store.read(scope, findMembers, { given: reference, key: addressKey(reference) }),
  );
  if (!member)
    throw new ApiError(
      'not_found',
      `There is no member ${reference}. Members: ${namesOf(await listMembers.all(store, scope, {}))}.`,
    );
  if (others.length > 0)
    throw new ApiError(
      'not_found',
      `Several members are named ${reference}. Give the id: ${namesOf([member, ...others])}.`,
    );
  return member;
}

/** @param reference id, prefix, complete key, or a name that only one active key has. @throws ApiError not_found */
export async function findKey(store: Store, reference: string): Promise<{ scope: Scope; key: ApiKey }> {
  const prefix = publicPartOf(reference);
  const [matched, ...others] = exactOrAll(await store.readSystem(findKeys, { given: prefix ?? reference }));
  if (others.length > 0)
    throw new ApiError(
      'not_found',
      `Several keys are named ${reference}. Give the id, which \`tatami keys list\` shows.`,
    );
  const scope = matched && scopeOf(matched.workspace_id);
  const row = matched && scope && (await readKey.one(store, scope, { id: matched.id }));
  if (!row)
    throw new ApiError(
      'not_found',
      `There is no such key${prefix === null ? ` as ${reference}` : ''}. \`tatami keys list\` lists all keys.`,
    );
  return { scope, key: apiKeyModel.fromRow(row) };
}

/**
 * Returns the objects that match exactly, or all if none does. Names are free text and can equal the id,
 * prefix or address of another object, so a name counts only without an exact match.
 */
function exactOrAll<T extends { readonly exact: boolean | 0 | 1 }>(matched: readonly T[]): readonly T[] {
  const exact = matched.filter((one) => Boolean(one.exact));
  return exact.length > 0 ? exact : matched;
}

function namesOf(all: readonly IdAndName[]): string {
  const displayed = all.slice(0, 20).map(({ id, name }) => `${id} (${name})`);
  return all.length > displayed.length ? `${displayed.join(', ')}, …` : displayed.join(', ');
}

const installedPlugins = systemStatement<{ plugin_id: string }>(
  'plugins.of_operator',
  'the start block lists the plugins of the installation',
  'SELECT DISTINCT plugin_id FROM plugins WHERE deleted_at IS NULL ORDER BY plugin_id LIMIT 1000',
);

export interface Holdings {
  /** Names, oldest first. */
  readonly workspaces: readonly string[];
  /** Ids without duplicates. */
  readonly plugins: readonly string[];
}

/** Returns null if the store cannot be read; the server reports that error elsewhere. */
export async function holdingsOf(store: Store): Promise<Holdings | null> {
  try {
    const [workspaces, plugins] = await Promise.all([
      workspacesOf(store),
      store.readSystem(installedPlugins),
    ]);
    return {
      workspaces: workspaces.map(({ name }) => name),
      plugins: plugins.map(({ plugin_id: id }) => id),
    };
  } catch (error) {
    if (error instanceof StoreError) return null;
    throw error;
  }
}
