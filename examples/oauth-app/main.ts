// A web app of somebody else, to which people sign in with Tatami: it shows the open issues that are assigned to them, and files new ones.
import { ApiCallError, createClient, type Client } from '@tatami/sdk/client';
import * as oauth from 'openid-client';

const { TATAMI_SERVER: tatami = 'http://127.0.0.1:4700', TEAM: team = 'ENG', PORT = '3000' } = process.env;
const origin = `http://127.0.0.1:${PORT}`;
const redirectUri = `${origin}/callback`;

const config = await oauth.discovery(
  new URL(tatami),
  process.env.CLIENT_ID ?? '',
  {},
  oauth.ClientSecretBasic(process.env.CLIENT_SECRET),
  // Without TLS only on this machine.
  {
    algorithm: 'oauth2',
    execute: tatami.startsWith('http://127.0.0.1:') ? [oauth.allowInsecureRequests] : [],
  },
);

interface Session {
  accessToken: string;
  refreshToken: string;
  expiresAt: number;
  refreshing?: Promise<void> | undefined;
}
/** By the cookie of the browser: who is on the way to Tatami, and who is signed in. */
const leaving = new Map<string, { state: string; verifier: string }>();
export const sessions = new Map<string, Session>();

function cookieOf({ headers }: Request): string {
  return /\bapp=([\w-]+)/.exec(headers.get('cookie') ?? '')?.[1] ?? '';
}

/** With a new cookie at each step, so that nobody signs in to a session that another began. */
function leadTo(location: string, cookie?: string): Response {
  const kept = cookie === undefined ? {} : { 'set-cookie': `app=${cookie}; Path=/; HttpOnly; SameSite=Lax` };
  return new Response(null, { status: 303, headers: { location, ...kept } });
}

function page(body: string, status = 200): Response {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Burndown</title><main>${body}</main>`;
  return new Response(html, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}
const link = '<p><a href="/sign-in">Sign in with Tatami</a></p>';
const text = Bun.escapeHTML;

async function signIn(): Promise<Response> {
  const cookie = crypto.randomUUID();
  const [state, verifier] = [oauth.randomState(), oauth.randomPKCECodeVerifier()];
  leaving.set(cookie, { state, verifier });
  const code_challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const asked = { redirect_uri: redirectUri, scope: 'issues:read issues:write', state };
  const url = oauth.buildAuthorizationUrl(config, {
    ...asked,
    code_challenge,
    code_challenge_method: 'S256',
  });
  return leadTo(url.href, cookie);
}

async function callback(request: Request): Promise<Response> {
  const left = leaving.get(cookieOf(request));
  leaving.delete(cookieOf(request));
  if (!left) return page(`<p>This browser did not begin to sign in.</p>${link}`, 400);
  const cookie = crypto.randomUUID();
  const checks = { expectedState: left.state, pkceCodeVerifier: left.verifier };
  const url = new URL(new URL(request.url).search, redirectUri);
  try {
    sessions.set(cookie, sessionOf(await oauth.authorizationCodeGrant(config, url, checks)));
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) throw error;
    return page(`<p>You were not signed in: ${text(error.error_description ?? error.error)}</p>${link}`, 403);
  }
  return leadTo('/', cookie);
}

function sessionOf({ access_token, refresh_token, expires_in = 0 }: oauth.TokenEndpointResponse): Session {
  const expiresAt = Date.now() + expires_in * 1000;
  return { accessToken: access_token, refreshToken: refresh_token ?? '', expiresAt };
}

/** A refresh token is good once, and ends everything when it comes again: requests at the same time wait for one refresh. */
async function clientOf(session: Session): Promise<Client> {
  if (session.expiresAt - Date.now() < 60_000)
    await (session.refreshing ??= oauth
      .refreshTokenGrant(config, session.refreshToken)
      .then((tokens) => void Object.assign(session, sessionOf(tokens)))
      .finally(() => (session.refreshing = undefined)));
  return createClient({ server: tatami, token: session.accessToken });
}

/** For who is signed in, as long as Tatami lets the app act for them. */
function signedIn(act: (session: Session, request: Request) => Promise<Response>) {
  return async (request: Request): Promise<Response> => {
    const session = sessions.get(cookieOf(request));
    if (!session) return page(link);
    if (request.method === 'POST' && request.headers.get('origin') !== origin) return page('', 403);
    try {
      return await act(session, request);
    } catch (error) {
      if (error instanceof ApiCallError && error.code === 'insufficient_scope')
        return page(`<p>You did not let this app do that. ${text(error.message)}</p>${link}`, 403);
      const isOver = error instanceof oauth.ResponseBodyError || (error as ApiCallError).status === 401;
      if (!isOver) throw error;
      sessions.delete(cookieOf(request));
      return page(`<p>Tatami no longer lets this app act for you.</p>${link}`, 403);
    }
  };
}

const show = signedIn(async (session) => {
  const client = await clientOf(session);
  const { member } = await client.me.get();
  const open = { not: { state: ['completed', 'canceled'] } };
  const { data } = await client.issues.list({ assignee: 'me', filter: open });
  const items = data.map(({ identifier, title }) => `<li>${identifier} ${text(title)}</li>`).join('');
  return page(`<h1>Open issues of ${text(member.name)}</h1><ul>${items}</ul>
    <form method="post" action="/issues"><label>Title <input name="title" required></label> <button>File it</button></form>
    <form method="post" action="/sign-out"><button>Sign out</button></form>`);
});

const file = signedIn(async (session, request) => {
  const title = (await request.formData()).get('title') as string;
  await (await clientOf(session)).issues.create({ team, title, assigneeId: 'me' });
  return leadTo('/');
});

/** What the person granted ends with it: what leaked of it is good for nothing. */
const signOut = signedIn(async ({ refreshToken }, request) => {
  sessions.delete(cookieOf(request));
  await oauth.tokenRevocation(config, refreshToken);
  return leadTo('/');
});

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
});
console.log(`listening on ${origin}`);
