// Shared parts of the HTML pages: routes, redirects, notices, and the forms of signed-in people.
import { timingSafeEqual } from 'node:crypto';
import { errorPage } from '../../kernel/error-page.ts';
import { reachedAddress, readForm, html, type Html, page, type PageOptions } from '../../kernel/html.ts';
import {
  defineRoute,
  type RawRequest,
  type Method,
  type RawAnswer,
  type Route,
} from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed } from '../../platform/lib/schema.ts';
import { Type } from 'typebox';
import type { Device, SignedIn } from './sessions.ts';
import { passwordMax, passwordMin } from './passwords.ts';

const usualDestination = '/';

const charsMax = 4_096;

/**
 * Validates the redirect target after a sign-in, to prevent open redirects.
 * @param requested parameter `to` of the request
 * @returns a path on this server with its query; `/` for invalid input
 */
export function destinationOf(requested: string | null, baseUrl: string): string {
  // Browsers read a backslash as a slash and ignore tabs and line breaks, so `/\evil` and `/<tab>/evil` name
  // another host.
  if (requested === null || requested.length > charsMax || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(requested))
    return usualDestination;
  const { origin } = new URL(baseUrl);
  if (!URL.canParse(requested, origin)) return usualDestination;
  const url = new URL(requested, origin);
  const path = url.pathname + url.search;
  return url.origin === origin && !path.startsWith('//') ? path : usualDestination;
}

/** Maximum age of the last authentication for a sensitive change. */
export const proofMs = 10 * 60_000;

interface PageFacts {
  readonly method: Extract<Method, 'GET' | 'POST'>;
  /** Path with at most one parameter, which is `{token}`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
}

/** Returns the route of a page, or of a form on a page. Errors are pages too, because a person reads them. */
export function pageRoute(
  { method, path, name, summary }: PageFacts,
  answer: (request: RawRequest, token: string) => Promise<RawAnswer>,
): Route {
  const token = Type.String({ maxLength: 200 });
  return defineRoute({
    method,
    path,
    name,
    summary,
    scope: null,
    limit: method === 'GET' ? 'read' : 'write',
    ...(path.includes('{token}') ? { params: Closed({ token }) } : {}),
    responses: { 200: Type.String() },
    contentType: 'text/html',
    inbound: ({ params }, request) =>
      answerPage(request, () => answer(request, (params as { token?: string } | undefined)?.token ?? '')),
  });
}

/**
 * Converts an `ApiError` to a page. Under another host name than that of the base URL, responds with a link
 * to the base URL.
 */
async function answerPage(request: RawRequest, answer: () => Promise<RawAnswer>): Promise<RawAnswer> {
  if (request.method !== 'POST' && reachedAddress(request, request.baseUrl) === null)
    return otherHostPage(request);
  try {
    return atReachedAddress(request, await answer());
  } catch (error) {
    if (error instanceof ApiError) return errorPage(error);
    throw error;
  }
}

/** Redirects within this server stay at the host name of the request, because cookies belong to it. */
function atReachedAddress(request: RawRequest, answer: RawAnswer): RawAnswer {
  const location = answer.headers?.location;
  if (typeof location !== 'string') return answer;
  return { ...answer, headers: { ...answer.headers, location: reachedUrl(request, location) } };
}

/** Replaces the base URL at the start of a URL by the address at which the request reached this server. */
export function reachedUrl(request: RawRequest, url: string): string {
  const { baseUrl } = request;
  const rest = url.slice(baseUrl.length);
  const isOwn = url.startsWith(baseUrl) && /^([/?]|$)/.test(rest);
  return isOwn ? (reachedAddress(request, baseUrl) ?? baseUrl) + rest : url;
}

/** Shows a link, because a redirect would loop behind a proxy that changes `Host`. */
function otherHostPage({ baseUrl, path, query }: RawRequest): RawAnswer {
  const address = baseUrl + path + (query.size === 0 ? '' : `?${query.toString()}`);
  return card(
    'Open this page at the address of the server',
    html`<p>Sign-in works only at <a href="${address}">${baseUrl}</a>.</p>
      <p>
        If that link fails or leads back to this page, ask your administrator to set
        <code>--base-url</code> and to make the proxy pass on the <code>Host</code> header.
      </p>`,
    { status: 403 },
  );
}

/** Returns a small page for one task, by default for a person who is not signed in. */
export function card(title: string, content: Html, options: PageOptions = {}): RawAnswer {
  return page(
    title,
    html`<div class="card">
      <h1>${title}</h1>
      ${content}
    </div>`,
    { person: null, ...options },
  );
}

/** Returns an error notice, which screen readers announce when the page loads. */
export const problem = (text: string): Html => html`<p class="notice problem" role="alert">${text}</p>`;
export const done = (text: string): Html => html`<p class="notice done" role="status">${text}</p>`;

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/**
 * Redirects with 303, so that the browser continues with GET (RFC 9110 §15.4.4).
 * @param path path on this server
 */
export function leadTo(baseUrl: string, path: string, cookies: readonly string[] = []): RawAnswer {
  return {
    status: 303,
    contentType: 'text/plain',
    headers: { location: baseUrl + path, ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }) },
    body: '',
  };
}

/**
 * Redirects a browser whose session has ended, and clears its storage, so that drafts do not stay in a shared
 * browser. The storage holds no sign-in data.
 * @param forgetCookies lines that delete the cookie of the session
 */
export function leadOut(baseUrl: string, path: string, forgetCookies: readonly string[]): RawAnswer {
  const answer = leadTo(baseUrl, path, forgetCookies);
  return { ...answer, headers: { ...answer.headers, 'clear-site-data': '"storage"' } };
}

/** @param to path on this server to return to after the sign-in */
export function leadToSignIn(baseUrl: string, to: string): RawAnswer {
  return leadTo(baseUrl, signInPath(to));
}

export function signInPath(to: string): string {
  return `/sign-in?${new URLSearchParams({ to }).toString()}`;
}

/**
 * Redirects to the page that requires a new authentication.
 * @param to path on this server to return to afterwards
 */
export function leadToProof(baseUrl: string, to: string): RawAnswer {
  return leadTo(baseUrl, proofPath(to));
}

export function proofPath(to: string): string {
  return `/sign-in/again?${new URLSearchParams({ to }).toString()}`;
}

/** Returns true if the last authentication is recent enough for a sensitive change. */
export function isFresh({ authenticatedAt }: Pick<SignedIn, 'authenticatedAt'>, nowMs: number): boolean {
  return nowMs - authenticatedAt < proofMs;
}

/**
 * Returns the fields of a form, after the check that a page of this session sent the form.
 * @throws ApiError forbidden, unsupported_media_type, payload_too_large
 */
export async function readSignedForm(
  request: RawRequest,
  baseUrl: string,
  { formToken }: { readonly formToken: string },
): Promise<URLSearchParams> {
  const form = await readForm(request, baseUrl);
  if (!isFormTokenOf({ formToken }, form.get('form_token')))
    throw new ApiError(
      'forbidden',
      'This form belongs to an earlier session. Reload the page and send it again.',
    );
  return form;
}

/** The comparison takes constant time. */
export function isFormTokenOf({ formToken }: { readonly formToken: string }, token: unknown): boolean {
  const [own, theirs] = [Buffer.from(formToken), Buffer.from(typeof token === 'string' ? token : '')];
  return own.length === theirs.length && timingSafeEqual(own, theirs);
}

export function deviceAt({ peer, headers }: RawRequest): Device {
  return { address: peer, agent: headers.get('user-agent') ?? '' };
}

/**
 * Returns the page option for the script that some part of the page needs. The parts of a page share at most
 * one script.
 */
export function scriptOf(parts: readonly { readonly script?: string }[]): { readonly script?: string } {
  const script = parts.find((part) => part.script !== undefined)?.script;
  return script === undefined ? {} : { script };
}

/** Renders a field for a new password, with the name `password`. */
export const newPasswordField = (label: string): Html =>
  html`<label
    >${label}<small>At least ${passwordMin} characters, such as a few random words.</small
    ><input
      type="password"
      name="password"
      autocomplete="new-password"
      minlength="${passwordMin}"
      maxlength="${passwordMax}"
      required
  /></label>`;
