// Stores the open routes of plugins, with sealed token and signing secret, and a hash of the token for
// lookup.
import { createHash, randomBytes } from 'node:crypto';
import type { RowOf } from '../../../kernel/table/define.ts';
import { sealedFor, type Sealing } from '../../../platform/lib/secrets/sealing.ts';
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import { pluginRouteTable, routeSignatureTable } from '../tables.ts';

const columns = ['id', 'install_id', 'name', 'token_sealed', 'secret_sealed', 'opened_at'] as const;
export type OpenRoute = Pick<RowOf<typeof pluginRouteTable>, (typeof columns)[number]>;

const ofInstall = pluginRouteTable.select('of_install', columns, ['install_id']);
const credentials = ['token_hash', 'token_sealed', 'secret_sealed', 'opened_at'] as const;
const put = pluginRouteTable.upsert('put', ['id', 'install_id', 'name', ...credentials], credentials);
const remove = pluginRouteTable.remove('remove', ['id']);
const removeAll = pluginRouteTable.remove('remove_all', ['install_id']);
const byToken = systemStatement<OpenRoute & { workspace_id: string }>(
  'plugin_routes.by_token',
  'the sender of a request to a route names no workspace',
  `SELECT workspace_id, ${pluginRouteTable.names(...columns)} FROM plugin_routes WHERE token_hash = :hash`,
);
const takeSignature = routeSignatureTable.insert('take');
const dropSignatures = tenantStatement(
  'route_signatures.drop',
  `DELETE FROM route_signatures WHERE workspace_id = :ws AND id IN
     (SELECT id FROM route_signatures WHERE workspace_id = :ws AND expires_at < :now ORDER BY expires_at LIMIT 100)`,
);

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function idOfRoute(installId: string, name: string): string {
  return `${installId}/${name}`;
}

/** Returns 192 random bits, base64url. */
export function mintToken(): string {
  return randomBytes(24).toString('base64url');
}

export function openRoutesOf(store: Store, scope: Scope, installId: string): Promise<readonly OpenRoute[]> {
  return ofInstall.all(store, scope, { install_id: installId });
}

export async function findByToken(store: Store, token: string) {
  const [row] = await store.readSystem(byToken, { hash: hashOf(token) });
  return row;
}

export function openSealed(
  sealing: Sealing,
  workspaceId: string,
  { id, token_sealed: token, secret_sealed: secret }: OpenRoute,
): { readonly token: string; readonly secret: string | null } {
  const open = (bytes: Uint8Array, what: 'token' | 'secret'): string =>
    sealing.open(new Uint8Array(bytes), sealedFor(`plugin-route-${what}`, workspaceId, id));
  return { token: open(token, 'token'), secret: secret === null ? null : open(secret, 'secret') };
}

export function putRouteOp(
  scope: Scope,
  sealing: Sealing,
  route: { readonly installId: string; readonly name: string },
  {
    token,
    secret,
    nowMs,
  }: { readonly token: string; readonly secret: string | null; readonly nowMs: number },
): Op {
  const id = idOfRoute(route.installId, route.name);
  const { workspaceId } = scope;
  return put(scope, {
    id,
    install_id: route.installId,
    name: route.name,
    token_hash: hashOf(token),
    token_sealed: sealing.seal(token, sealedFor('plugin-route-token', workspaceId, id)),
    secret_sealed:
      secret === null ? null : sealing.seal(secret, sealedFor('plugin-route-secret', workspaceId, id)),
    opened_at: nowMs,
  });
}

export function removeRouteOp(scope: Scope, id: string): Op {
  return remove(scope, { id }, { expectRows: 1 });
}

/** Returns the ops that remove the routes of a deleted install; none for other installs. */
export function routesAfterOps(
  scope: Scope,
  install: { readonly id: string; readonly deletedAt: number | null },
): Op[] {
  return install.deletedAt === null ? [] : [removeAll(scope, { install_id: install.id })];
}

/**
 * Returns the ops that record a signature as used. If it was used before, they fail the batch as a duplicate.
 */
export function takeSignatureOps(
  scope: Scope,
  routeId: string,
  signed: string,
  at: { nowMs: number; expiresAt: number },
): Op[] {
  const id = hashOf(`${routeId} ${signed}`);
  return [
    tenantOp(scope, dropSignatures, { now: at.nowMs }),
    takeSignature(scope, { id, expires_at: at.expiresAt }, { expectRows: 1 }),
  ];
}
