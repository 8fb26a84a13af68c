// Stores the open routes of plugins, with sealed token and signing secret, and a hash of the token for
// lookup.
import { createHash, randomBytes } from 'node:crypto';
import { sealedFor, type Sealing } from '../../../platform/lib/secrets/sealing.ts';
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';

export interface OpenRoute {
  readonly id: string;
  readonly install_id: string;
  readonly name: string;
  readonly token_sealed: Uint8Array;
  readonly secret_sealed: Uint8Array | null;
  readonly opened_at: number;
}

const columns = 'id, install_id, name, token_sealed, secret_sealed, opened_at';

const ofInstall = tenantStatement<OpenRoute>(
  'plugin_routes.of_install',
  `SELECT ${columns} FROM plugin_routes WHERE workspace_id = :ws AND install_id = :installId`,
);
const byToken = systemStatement<OpenRoute & { workspace_id: string }>(
  'plugin_routes.by_token',
  'the sender of a request to a route names no workspace',
  `SELECT workspace_id, ${columns} FROM plugin_routes WHERE token_hash = :hash`,
);
const put = tenantStatement(
  'plugin_routes.put',
  `INSERT INTO plugin_routes (workspace_id, id, install_id, name, token_hash, token_sealed, secret_sealed, opened_at)
   VALUES (:ws, :id, :installId, :name, :hash, :token, :secret, :now)
   ON CONFLICT (workspace_id, id) DO UPDATE SET token_hash = :hash, token_sealed = :token, secret_sealed = :secret, opened_at = :now`,
);
const remove = tenantStatement(
  'plugin_routes.remove',
  'DELETE FROM plugin_routes WHERE workspace_id = :ws AND id = :id',
);
const removeAll = tenantStatement(
  'plugin_routes.remove_all',
  'DELETE FROM plugin_routes WHERE workspace_id = :ws AND install_id = :installId',
);
const takeSignature = tenantStatement(
  'route_signatures.take',
  'INSERT INTO route_signatures (workspace_id, id, expires_at) VALUES (:ws, :id, :expiresAt)',
);
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
  return store.read(scope, ofInstall, { installId });
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
  return tenantOp(scope, put, {
    ...route,
    id,
    hash: hashOf(token),
    token: sealing.seal(token, sealedFor('plugin-route-token', workspaceId, id)),
    secret: secret === null ? null : sealing.seal(secret, sealedFor('plugin-route-secret', workspaceId, id)),
    now: nowMs,
  });
}

export function removeRouteOp(scope: Scope, id: string): Op {
  return tenantOp(scope, remove, { id }, { expectRows: 1 });
}

/** Returns the ops that remove the routes of a deleted install; none for other installs. */
export function routesAfterOps(
  scope: Scope,
  install: { readonly id: string; readonly deletedAt: number | null },
): Op[] {
  return install.deletedAt === null ? [] : [tenantOp(scope, removeAll, { installId: install.id })];
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
    tenantOp(scope, takeSignature, { id, expiresAt: at.expiresAt }, { expectRows: 1 }),
  ];
}
