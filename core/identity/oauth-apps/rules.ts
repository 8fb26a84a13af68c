// What an OAuth app may be, and who may say so: people decide by its name, and codes go where it says.
import type { Context } from '../../context.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { faultOfShownName } from '../../lib/shown-name.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp, type Op } from '../../store/store.ts';
import { callingMember, isAdmin } from '../members/roles.ts';
import type { OAuthApp } from './kind.ts';
import { faultOfRedirectUri } from './redirect-uris.ts';

/** They are shown in one list, and each is a thing to be trusted. */
const appsMax = 100;

const countApps = tenantStatement<{ count: number }>(
  'oauth_apps.count',
  'SELECT count(*) AS count FROM oauth_apps WHERE workspace_id = :ws AND deleted_at IS NULL',
);
/** One row where there are not too many, so that two who register at the same moment do not both find room. */
const haveRoom = tenantStatement<{ count: number }>(
  'oauth_apps.have_room',
  'SELECT count(*) AS count FROM oauth_apps WHERE workspace_id = :ws AND deleted_at IS NULL HAVING count(*) <= :max',
);

/**
 * What a member lets in is as trustworthy as whoever registered it: a person does, who runs the workspace.
 * @throws ApiError forbidden
 */
export async function requireRegistrar(ctx: Context): Promise<void> {
  if (ctx.authority.actor.kind === 'app')
    throw new ApiError(
      'forbidden',
      'An app registers and changes no apps: a person does, signed in or by a key.',
    );
  if (!isAdmin(await callingMember(ctx)))
    throw new ApiError('forbidden', 'Only an admin or an owner registers and changes OAuth apps.');
}

/** @throws ApiError validation_failed */
export function checkApp({
  name,
  homepage,
  redirectUris,
}: Pick<OAuthApp, 'name' | 'homepage' | 'redirectUris'>): void {
  const fault = faultOfShownName(name);
  if (fault !== null)
    throw invalidField('name', 'invalid_format', {
      why: `The name ${fault}.`,
      fix: 'Give one that people can read in one line.',
    });
  if (homepage !== null && !isHomepage(homepage))
    throw invalidField('homepage', 'invalid_format', 'Give an https address without a user name.');
  for (const [index, uri] of redirectUris.entries()) {
    const wrong = faultOfRedirectUri(uri);
    if (wrong) throw invalidField(`redirectUris.${index}`, 'invalid_format', wrong);
  }
}

/** Whether people can be led there. */
export function isHomepage(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '';
}

/** @returns the guard that holds it when the change is made. @throws ApiError conflict */
export async function requireRoom(ctx: Context): Promise<Op> {
  const found = await ctx.store.readOne(ctx.scope, countApps);
  if ((found?.count ?? 0) >= appsMax)
    throw new ApiError('conflict', `A workspace has at most ${appsMax} OAuth apps. Delete one first.`);
  return tenantOp(ctx.scope, haveRoom, { max: appsMax }, { expectRows: 1 });
}
