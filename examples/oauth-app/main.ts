// A third-party web app with Tatami sign-in. It shows a person's open issues and creates new ones.
import { ApiCallError, createClient, type Client } from '@tatami/sdk/client';
import * as oauth from 'openid-client';

const { TATAMI_SERVER: tatami = 'http://127.0.0.1:4700', TEAM: team = 'ENG', PORT = '3000' } = process.env;
const { CLIENT_ID, CLIENT_SECRET } = process.env;
if (!CLIENT_ID || !CLIENT_SECRET) throw new Error('Set CLIENT_ID and CLIENT_SECRET; see README.md.');
const origin = `http://127.0.0.1:${PORT}`;
const redirectUri = `${origin}/callback`;

const proof = oauth.ClientSecretBasic(CLIENT_SECRET);
const config = await oauth.discovery(new URL(tatami), CLIENT_ID, {}, proof, {
  algorithm: 'oauth2',
  // Allows plain HTTP only on this machine.
  execute: tatami.startsWith('http://127.0.0.1:') ? [oauth.allowInsecureRequests] : [],
});

interface Session {
  accessToken: string;
  refreshToken: string;
  expiresAt: number;
  refreshing?: Promise<void> | undefined;
}
/** Keyed by the browser's cookie: pending sign-ins, and sessions. */
const leaving = new Map<string, { state: string; verifier: string }>();
export const sessions = new Map<string, Session>();

const cookieOf = ({ headers }: Request): string =>
  /\bapp=([\w-]+)/.exec(headers.get('cookie') ?? '')?.[1] ?? '';

/** Returns the session of a request; undefined for a form submitted from another site. */
const sessionIn = (request: Request): Session | undefined =>
  request.method === 'GET' || request.headers.get('origin') === origin
    ? sessions.get(cookieOf(request))
    : undefined;

/**
 * Returns a redirect. Every step sets a new cookie, so that nobody signs in to a session that someone else
 * started.
 */
function leadTo(location: string, cookie?: string): Response {
  const cookieHeader =
    cookie === undefined ? {} : { 'set-cookie': `app=${cookie}; Path=/; HttpOnly; SameSite=Lax` };
  return new Response(null, { status: 303, headers: { location, ...cookieHeader } });
}

const text = Bun.escapeHTML;
const link = '<p><a href="/sign-in">Sign in with Tatami</a></p>';

function page(body: string, status = 200): Response {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Burndown</title><main>${body}</main>`;
  return new Response(html, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}

async function signIn(request: Request): Promise<Response> {
  sessions.delete(cookieOf(request));
  const cookie = crypto.randomUUID();
  const [state, verifier] = [oauth.randomState(), oauth.randomPKCECodeVerifier()];
  // Most sign-ins complete within seconds; the oldest pending ones are dropped.
  if (leaving.size >= 1000) leaving.delete(leaving.keys().next().value ?? '');
  leaving.set(cookie, { state, verifier });
  const challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const url = oauth.buildAuthorizationUrl(config, {
    ...{ redirect_uri: redirectUri, scope: 'issues:read issues:write', state },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
  });
  return leadTo(url.href, cookie);
}

async function callback(request: Request): Promise<Response> {
  const left = leaving.get(cookieOf(request));
  leaving.delete(cookieOf(request));
  if (!left) return page(`<p>This browser did not start a sign-in.</p>${link}`, 400);
  const cookie = crypto.randomUUID();
  const checks = { expectedState: left.state, pkceCodeVerifier: left.verifier };
  const answer = new URL(new URL(request.url).search, redirectUri);
  sessions.set(cookie, sessionOf(await oauth.authorizationCodeGrant(config, answer, checks)));
  return leadTo('/', cookie);
}

function sessionOf({ access_token, refresh_token, expires_in = 0 }: oauth.TokenEndpointResponse): Session {
  const expiresAt = Date.now() + expires_in * 1000;
  return { accessToken: access_token, refreshToken: refresh_token ?? '', expiresAt };
}

/** A refresh token is valid once, and reusing it ends the grant, so concurrent requests wait for one refresh. */
async function clientOf(session: Session): Promise<Client> {
  if (session.expiresAt - Date.now() < 60_000)
    await (session.refreshing ??= oauth
      .refreshTokenGrant(config, session.refreshToken)
      .then((tokens) => void Object.assign(session, sessionOf(tokens)))
      .finally(() => (session.refreshing = undefined)));
  return createClient({ server: tatami, token: session.accessToken });
}

async function show(request: Request): Promise<Response> {
  const session = sessionIn(request);
  if (!session) return page(link);
  const client = await clientOf(session);
  const { member } = await client.me.get();
  const open = { not: { state: ['completed', 'canceled'] } };
  const { data } = await client.issues.list({ assignee: 'me', filter: open });
  const items = data.map(({ identifier, title }) => `<li>${identifier} ${text(title)}</li>`).join('');
  return page(`<h1>Open issues of ${text(member.name)}</h1><ul>${items}</ul>
    <form method="post" action="/issues"><label>Title <input name="title" required></label> <button>Create issue</button></form>
    <form method="post" action="/sign-out"><button>Sign out</button></form>`);
}

async function file(request: Request): Promise<Response> {
  const session = sessionIn(request);
  if (!session) return page(link, 403);
  const title = (await request.formData()).get('title') as string;
  await (await clientOf(session)).issues.create({ team, title, assigneeId: 'me' });
  return leadTo('/');
}

/** Signing out ends the grant, so a leaked token becomes useless. */
async function signOut(request: Request): Promise<Response> {
  const session = sessionIn(request);
  if (!session) return page(link, 403);
  sessions.delete(cookieOf(request));
  await oauth.tokenRevocation(config, session.refreshToken);
  return leadTo('/');
}

function refuse(error: Error): Response {
  if (error instanceof oauth.AuthorizationResponseError)
    return page(`<p>Sign-in failed: ${text(error.error_description ?? error.error)}</p>${link}`, 403);
  if (error instanceof ApiCallError && error.code === 'insufficient_scope')
    return page(`<p>This app lacks the permission. ${text(error.message)}</p>${link}`, 403);
  if (error instanceof oauth.ResponseBodyError || (error instanceof ApiCallError && error.status === 401))
    return page(`<p>Your grant for this app was revoked.</p>${link}`, 403);
  console.error(error);
  return page('<p>Internal error.</p>', 500);
}

export const app = Bun.serve({
  port: PORT,
  hostname: '127.0.0.1',
  routes: {
    '/': show,
    '/sign-in': signIn,
    '/callback': callback,
    '/issues': { POST: file },
    '/sign-out': { POST: signOut },
  },
  error: refuse,
});
console.log(`listening on ${origin}`);
