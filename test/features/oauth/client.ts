// Registers an app, signs a person in, and goes through the OAuth pages as a browser without scripts.
import { createHash, randomBytes } from 'node:crypto';
import type { Json, TestApp } from '../../app.ts';
import { signIn, type Person } from '../sign-in/person.ts';

interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly location: string | null;
  readonly text: string;
}

/** A browser that stores cookies by path, and follows no redirect. */
export class Browser {
  readonly base: string;
  readonly #cookies = new Map<string, { name: string; value: string; path: string }>();

  constructor(base: string) {
    this.base = base;
  }

  /** Adds the session cookie of a signed-in person. */
  addCookie(pair: string): void {
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    this.#cookies.set(`${name} /`, { name, value, path: '/' });
  }

  get(path: string): Promise<Page> {
    return this.#ask(path, { method: 'GET' });
  }

  post(path: string, form: URLSearchParams, headers: Record<string, string> = {}): Promise<Page> {
    const type = 'application/x-www-form-urlencoded';
    return this.#ask(path, {
      method: 'POST',
      body: form.toString(),
      headers: { 'content-type': type, origin: this.base, ...headers },
    });
  }

  async #ask(path: string, init: RequestInit): Promise<Page> {
    const url = new URL(path, this.base);
    const cookie = [...this.#cookies.values()]
      .filter((one) => url.pathname.startsWith(one.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#take(line);
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get('location'),
      text: await response.text(),
    };
  }

  #take(line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const at = pair.indexOf('=');
    const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/';
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    const isGone = value === '' || attributes.some((one) => one.includes('1970'));
    if (isGone) this.#cookies.delete(`${name} ${path}`);
    else this.#cookies.set(`${name} ${path}`, { name, value, path });
  }
}

/**
 * Returns the fields of a form, with its default values.
 * @param holding text within the form; by default the last form
 */
export function formOf(page: Page, holding = '<form'): URLSearchParams {
  const form = new URLSearchParams();
  const text = page.text.match(/<form.*?<\/form>/gs)?.findLast((one) => one.includes(holding)) ?? '';
  for (const [input] of text.matchAll(/<input[^>]*>/g)) {
    const name = attribute(input, 'name');
    const isBox = input.includes('type="checkbox"');
    if (name === null || (isBox && !/\bchecked\b/.test(input)) || /\bdisabled\b/.test(input)) continue;
    form.append(name, attribute(input, 'value') ?? 'on');
  }
  return form;
}

const attribute = (tag: string, name: string): string | null =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll('&amp;', '&') ?? null;

/** The part of the server that tests of the executable also have. */
type Server = Pick<TestApp, 'url' | 'call'>;

export interface Client {
  readonly id: string;
  readonly secret: string | null;
  readonly redirectUri: string;
}

const redirectUri = 'https://client.example/callback';

/** Registers an app as an admin of the first workspace. */
export async function registerApp(
  app: Server,
  { confidential = false, redirectUris = [redirectUri], name = 'Burndown' } = {},
): Promise<Client> {
  const { status, json } = await app.call('POST', '/api/v1/oauth-apps', { name, confidential, redirectUris });
  if (status !== 201) throw new Error(JSON.stringify(json));
  return { id: json.id, secret: json.secret ?? null, redirectUri: redirectUris[0]! };
}

/** Returns a browser in which the person is signed in; by default a new one as the owner. */
export async function browserOf(app: TestApp, person?: Person): Promise<Browser> {
  const browser = new Browser(app.url);
  browser.addCookie((person ?? (await signIn(app))).cookie);
  return browser;
}

export type Params = Readonly<Record<string, string | undefined>>;

/** @param params undefined ones are omitted */
export function authorizePath(client: Client, challenge: string, params: Params = {}): string {
  const all: Params = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.redirectUri,
    scope: 'issues:write comments:read',
    state: 'st',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...params,
  };
  return `/oauth/authorize?${sent(all)}`;
}

function sent(params: Params): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== undefined) form.set(name, value);
  return form;
}

/**
 * Completes the consent page.
 * @param change changes of the form fields
 * @returns the final redirect of the browser
 */
export async function consent(
  browser: Browser,
  path: string,
  change: (form: URLSearchParams) => void = () => undefined,
): Promise<URL> {
  const begun = await browser.get(path);
  const ask = begun.location ?? '';
  const page = await browser.get(ask);
  if (page.status !== 200) throw new Error(`${begun.text} ${page.status} ${page.location} ${page.text}`);
  const form = formOf(page);
  form.set('decision', 'allow');
  change(form);
  const decided = await browser.post(ask, form);
  const resumed = await browser.get(decided.location ?? '');
  if (resumed.status !== 303) throw new Error(`${decided.status} ${decided.text} ${resumed.text}`);
  return new URL(resumed.location ?? '');
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Json;
}

/** Sends a request of a client to a protocol endpoint. */
export async function ask(app: Server, path: string, client: Client | null, params: Params): Promise<Answer> {
  const isSecret = client !== null && client.secret !== null;
  const body = sent({ ...(client && !isSecret ? { client_id: client.id } : {}), ...params });
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (isSecret) headers.authorization = `Basic ${btoa(`${client.id}:${client.secret}`)}`;
  const response = await fetch(app.url + path, { method: 'POST', headers, body: body.toString() });
  const text = await response.text();
  const json = (text === '' ? null : JSON.parse(text)) as Json;
  return { status: response.status, headers: response.headers, json };
}

export function exchange(
  app: Server,
  client: Client,
  code: string | null,
  { verifier }: Pkce,
  params: Params = {},
): Promise<Answer> {
  return ask(app, '/oauth/token', client, {
    grant_type: 'authorization_code',
    code: code ?? undefined,
    redirect_uri: client.redirectUri,
    code_verifier: verifier,
    ...params,
  });
}

export function refresh(app: Server, client: Client, token: string, params: Params = {}): Promise<Answer> {
  return ask(app, '/oauth/token', client, { grant_type: 'refresh_token', refresh_token: token, ...params });
}

/** Runs the flow from the first request to the tokens. */
export async function tokensOf(
  app: Server,
  client: Client,
  options: { browser: Browser; params?: Params; change?: (form: URLSearchParams) => void },
): Promise<Json> {
  const proof = pkce();
  const back = await consent(
    options.browser,
    authorizePath(client, proof.challenge, options.params),
    options.change,
  );
  const { status, json } = await exchange(app, client, back.searchParams.get('code'), proof);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)}`);
  return json;
}
