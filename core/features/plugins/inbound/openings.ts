// Opens and closes the inbound routes of a plugin or of a rule.
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { requireVersion } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { mintSecret } from '../../../platform/lib/secrets/tokens.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { declared } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import { idOfRoute, mintToken, openRoutesOf, openSealed, putRouteOp, removeRouteOp } from './rows.ts';

/** A reopened signed route keeps its URL and gets a new secret; a reopened public route gets a new URL. */
export async function openRoute(ctx: Context, install: Install, name: string): Promise<ChangeSet> {
  const { id: installId, manifest } = install;
  const route = declared(manifest.routes, name);
  if (!route) throw noSuchRoute(install, name);
  const { method, auth } = route;
  const known = (await openRoutesOf(ctx.store, ctx.scope, installId)).find((row) => row.name === name);
  const before = known && openSealed(ctx.sealing, ctx.workspaceId, known);
  const secret = auth === 'hmac' ? mintSecret() : null;
  const token = before?.secret && secret !== null ? before.token : mintToken();
  const credentials = { token, secret, nowMs: ctx.nowMs() };
  return {
    changes: [],
    ops: [putRouteOp(ctx.scope, ctx.sealing, { installId, name }, credentials)],
    body: { name, method, auth, url: urlOf(ctx, token, name), secret },
    status: 200,
  };
}

/** Callers who can open routes can also list them, so the message can name them. */
function noSuchRoute({ pluginId, manifest }: Install, name: string): ApiError {
  const names = Object.keys(manifest.routes ?? {});
  const there = names.length > 0 ? `its routes are ${names.join(', ')}` : 'it has no routes';
  return new ApiError('not_found', `${pluginId} has no route ${name}; ${there}.${didYouMean(name, names)}`);
}

export async function closeRoute(
  ctx: Context,
  { id, pluginId }: Install,
  name: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const open = await openRoutesOf(ctx.store, ctx.scope, id);
  const known = open.find((row) => row.name === name);
  if (!known)
    throw new ApiError(
      'not_found',
      `The route ${name} of ${pluginId} is already closed. Open it again to receive requests.`,
    );
  requireVersion({ id: known.id, version: known.opened_at }, ifMatch);
  return { changes: [], ops: [removeRouteOp(ctx.scope, idOfRoute(id, name))], body: undefined };
}

export function urlOf({ baseUrl }: Context, token: string, name: string): string {
  return `${baseUrl}/api/v1/hooks/${token}/${name}`;
}
