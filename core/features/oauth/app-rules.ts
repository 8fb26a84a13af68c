// Rules for redirect URIs. An attacker who controls a redirect URI receives authorization codes. URIs are
// compared as text (RFC 9700 §2.1), so only the normal form, which all parsers read alike, can be registered.
import { type Wrong, ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import type { Context } from '../../kernel/context.ts';
import { displayNameFault, isLikeOurs } from '../../platform/lib/display-name.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op } from '../../platform/store/store.ts';
import { callingMember, isAdmin } from '../people/index.ts';
import type { OAuthApp } from './apps.ts';

export const redirectUrisMax = 10;
const redirectUriLengthMax = 1_000;

/** Hosts of RFC 8252 §7.3 and §8.3. */
const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Scheme of a private-use URI: a reversed domain name of the owner, so with a dot (RFC 8252 §7.1). */
const privateUse = /^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+:$/;
/**
 * Exceptions for editors that register such a URI among others: one rejected URI would fail the whole
 * registration.
 */
const editorSchemes: ReadonlySet<string> = new Set(['cursor:', 'vscode:', 'vscode-insiders:']);
/**
 * Parameters of the authorization response (RFC 6749 §4.1.2, RFC 9207), which the query of a registered URI
 * could forge.
 */
const ofTheAnswer = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'response'];

export function faultOfRedirectUri(text: string): Wrong | null {
  return faultOfText(text) ?? faultOfParsed(text, URL.parse(text));
}

/** Returns the host or the private-use scheme, to show to people. */
export function redirectHostOf(uri: string): string {
  const url = new URL(uri);
  return /^https?:$/.test(url.protocol) ? url.host : url.protocol.slice(0, -1);
}

function faultOfText(text: string): Wrong | null {
  if (text.length > redirectUriLengthMax)
    return {
      why: `The URI is longer than ${redirectUriLengthMax} characters.`,
      fix: 'Use `state` for variable data.',
    };
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\"<>^`{|}]/.test(text))
    return {
      why: 'The URI contains characters that a URI cannot have.',
      fix: 'Use percent-encoding for these characters.',
    };
  if (text.includes('*'))
    return { why: 'Wildcards are not supported.', fix: 'Give each redirect URI in full.' };
  if (text.includes('#'))
    return {
      why: 'A redirect URI cannot have a fragment (RFC 6749 §3.1.2).',
      fix: 'Remove # and everything after it.',
    };
  return null;
}

function faultOfParsed(text: string, url: URL | null): Wrong | null {
  if (!url)
    return { why: 'The URI is not absolute.', fix: 'Give a URI such as https://app.example/callback.' };
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?]*@/.test(text))
    return { why: 'The URI contains a user name.', fix: 'Remove everything before the @.' };
  const scheme = faultOfScheme(text, url);
  if (scheme) return scheme;
  // Without this rule, different texts could mean the same URI, or parsers could disagree about one text.
  if (url.href !== text && url.href !== `${text}/`)
    return { why: 'The URI is not in normal form.', fix: `Use the form ${url.href}.` };
  const taken = ofTheAnswer.find((name) => url.searchParams.has(name));
  if (taken !== undefined)
    return {
      why: `The query contains \`${taken}\`, which the authorization response sets.`,
      fix: 'Use another parameter name.',
    };
  return null;
}

function faultOfScheme(text: string, url: URL): Wrong | null {
  const { protocol, hostname } = url;
  if (protocol === 'https:') return faultOfHost(hostname);
  if (protocol === 'http:')
    return loopbackHosts.has(hostname)
      ? null
      : {
          why: 'Over http, the code could be intercepted.',
          fix: 'Use https; http is allowed only for 127.0.0.1, [::1] and localhost.',
        };
  if (!privateUse.test(protocol) && !editorSchemes.has(protocol))
    return {
      why: `The scheme ${protocol.slice(0, -1)} is not allowed.`,
      fix: 'Use https, or a private-use scheme with a dot, such as com.example.app:/callback (RFC 8252 §7.1).',
    };
  return text.startsWith(`${protocol}/`)
    ? null
    : { why: 'The URI has no path after its scheme.', fix: `Add a path, such as ${protocol}/callback.` };
}

function faultOfHost(hostname: string): Wrong | null {
  if (loopbackHosts.has(hostname))
    return { why: 'A loopback host cannot have a TLS certificate.', fix: 'Use http for this host.' };
  if (hostname.endsWith('.'))
    return { why: 'The host ends with a dot.', fix: 'Remove the last dot of the host.' };
  return null;
}

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
  'oauth_apps.have_capacity',
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
