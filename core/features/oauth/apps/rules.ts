import type { Context } from '../../../kernel/context.ts';
import { ApiError, invalidField } from '../../../platform/lib/errors/errors.ts';
import { displayNameFault, isLikeOurs } from '../../../platform/lib/display-name.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op } from '../../../platform/store/store.ts';
import { callingMember, isAdmin } from '../../people/index.ts';
import type { OAuthApp } from './model.ts';
import { faultOfRedirectUri } from './redirect-uris.ts';

/** Maximum number of apps per workspace, so that admins can review them in one list. */
const appsMax = 100;

const countApps = tenantStatement<{ count: number }>(
  'oauth_apps.count',
  'SELECT count(*) AS count FROM oauth_apps WHERE workspace_id = :ws AND deleted_at IS NULL',
);
/**
 * Returns no row if the limit is exceeded. Runs in the commit, so that concurrent registrations cannot exceed
 * it.
 */
const haveCapacity = tenantStatement<{ count: number }>(
  'oauth_apps.have_room',
  'SELECT count(*) AS count FROM oauth_apps WHERE workspace_id = :ws AND deleted_at IS NULL HAVING count(*) <= :max',
);

/**
 * Members trust an app because an admin registered it, so apps and members who are not admins may not
 * register apps.
 * @throws ApiError forbidden
 */
export async function requireRegistrar(ctx: Context): Promise<void> {
  if (ctx.authority.actor.kind === 'app')
    throw new ApiError('forbidden', 'An app cannot register or change apps. Use a session or an API key.');
  if (!isAdmin(await callingMember(ctx)))
    throw new ApiError(
      'forbidden',
      'Only an admin or an owner can register and change OAuth apps. Ask one of them.',
    );
}

interface PublicAppFields {
  readonly name: string;
  readonly homepage: OAuthApp['homepage'];
  readonly redirectUris: readonly string[];
}

/**
 * @param before null for a new app
 * @throws ApiError validation_failed
 */
export function checkApp(
  { name, homepage, redirectUris }: PublicAppFields,
  before: { readonly name: string } | null,
): void {
  const fault = displayNameFault(name);
  if (fault !== null)
    throw invalidField('name', 'invalid_format', {
      why: `The name ${fault}.`,
      fix: 'Give a name that is readable in one line.',
    });
  // Apps that were registered before this rule may keep their names.
  if (name !== before?.name && isLikeOurs(name))
    throw invalidField('name', 'invalid_format', {
      why: `The name ${name} could be mistaken for a part of Tatami.`,
      fix: 'Use a name that begins with your own, such as Acme for Tatami.',
    });
  if (homepage !== null && !isHomepage(homepage))
    throw invalidField('homepage', 'invalid_format', 'Give an https URL without a user name.');
  for (const [index, uri] of redirectUris.entries()) {
    const wrong = faultOfRedirectUri(uri);
    if (wrong) throw invalidField(`redirectUris.${index}`, 'invalid_format', wrong);
  }
}

/** Returns true for an https URL without user name and password. */
export function isHomepage(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '';
}

/**
 * @returns an operation that enforces the limit in the commit
 * @throws ApiError conflict
 */
export async function requireCapacity(ctx: Context): Promise<Op> {
  const row = await ctx.store.readOne(ctx.scope, countApps);
  if ((row?.count ?? 0) >= appsMax)
    throw new ApiError('conflict', `A workspace has at most ${appsMax} OAuth apps. Delete one first.`);
  return tenantOp(ctx.scope, haveCapacity, { max: appsMax }, { expectRows: 1 });
}
