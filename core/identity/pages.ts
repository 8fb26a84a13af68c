// What the pages for people share: how they are answered, how one leads to another, and what a form of a person who is signed in proves.
import { timingSafeEqual } from 'node:crypto';
import { isAtOwnHost, readForm } from '../html/form.ts';
import { html, type Html } from '../html/html.ts';
import { page, type PageOptions } from '../html/page.ts';
import { defineRoute, type Arrival, type Method, type RawAnswer, type Route } from '../http/route.ts';
import { ApiError } from '../lib/errors.ts';
import { Closed } from '../lib/schema.ts';
import { Type } from 'typebox';
import type { Device, SignedIn } from './sessions/sessions.ts';

/** A sensitive change needs a proof of who asks that is no older. */
export const proofMs = 10 * 60_000;

interface PageFacts {
  readonly method: Extract<Method, 'GET' | 'POST'>;
  /** With `{token}` at the most. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
}

/** A page, or a form that one of them sends. What is refused is answered as a page too, because a person reads it. */
export function pageRoute(
  { method, path, name, summary }: PageFacts,
  answer: (arrival: Arrival, token: string) => Promise<RawAnswer>,
): Route {
  const token = Type.String({ maxLength: 200 });
  return defineRoute({
    ...{ method, path, name, summary },
    scope: null,
    limit: method === 'GET' ? 'read' : 'write',
    ...(path.includes('{token}') ? { params: Closed({ token }) } : {}),
    responses: { 200: Type.String() },
    contentType: 'text/html',
    inbound: ({ params }, arrival) =>
      answerPage(arrival, () => answer(arrival, (params as { token?: string } | undefined)?.token ?? '')),
  });
}

/** Answers a page or a form of people: an error as a page, and a page under another name of this server as a link. */
export async function answerPage(arrival: Arrival, answer: () => Promise<RawAnswer>): Promise<RawAnswer> {
  const { method, baseUrl } = arrival;
  if (method !== 'POST' && !isAtOwnHost(arrival, baseUrl)) return otherHostPage(arrival);
  try {
    return await answer();
  } catch (error) {
    if (error instanceof ApiError) return refusalPage(error);
    throw error;
  }
}

/** A link and no redirect: behind a proxy that changes `Host`, a redirect would lead back here without end. */
function otherHostPage({ baseUrl, path, query }: Arrival): RawAnswer {
  const address = baseUrl + path + (query.size === 0 ? '' : `?${query.toString()}`);
  return card(
    'Open this page at its own address',
    html`<p>People sign in to this server at <a href="${address}">${baseUrl}</a> alone.</p>
      <p>
        If that link fails or leads back here, ask your administrator to set <code>--base-url</code> and to
        let the proxy pass on the <code>Host</code> header.
      </p>`,
    { status: 403 },
  );
}

function refusalPage({ message, status, headers }: ApiError): RawAnswer {
  return card('This did not work', html`${problem(message)}`, { status, headers });
}

/** A page with one thing to do. */
export function card(title: string, content: Html, options: PageOptions = {}): RawAnswer {
  return page(
    title,
    html`<div class="card">
      <p class="brand">Tatami</p>
      <h1>${title}</h1>
      ${content}
    </div>`,
    options,
  );
}

/** What went wrong, read out by screen readers as soon as the page is there. */
export const problem = (text: string): Html => html`<p class="notice problem" role="alert">${text}</p>`;
export const done = (text: string): Html => html`<p class="notice done" role="status">${text}</p>`;

/** A hidden field. */
export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/** By GET, whatever the method was before (RFC 9110 §15.4.4). @param path of this server */
export function leadTo(baseUrl: string, path: string, cookies: readonly string[] = []): RawAnswer {
  return {
    status: 303,
    contentType: 'text/plain',
    headers: { location: baseUrl + path, ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }) },
    body: '',
  };
}

/** To the sign-in page, and back again. */
export function leadToSignIn(baseUrl: string, to: string): RawAnswer {
  return leadTo(baseUrl, `/sign-in?${new URLSearchParams({ to }).toString()}`);
}

/** To where a person proves again who they are, and back again. */
export function leadToProof(baseUrl: string, to: string): RawAnswer {
  return leadTo(baseUrl, proofPath(to));
}

export function proofPath(to: string): string {
  return `/sign-in/again?${new URLSearchParams({ to }).toString()}`;
}

/** Whether a person proved recently enough for a sensitive change who they are. @param nowMs milliseconds since the epoch */
export function isFresh({ provedAt }: Pick<SignedIn, 'provedAt'>, nowMs: number): boolean {
  return nowMs - provedAt < proofMs;
}

/**
 * The fields of a form that a page of this very session sent.
 * @throws ApiError forbidden, unsupported_media_type, payload_too_large
 */
export async function readSignedForm(
  arrival: Arrival,
  baseUrl: string,
  { formToken }: Pick<SignedIn, 'formToken'>,
): Promise<URLSearchParams> {
  const form = await readForm(arrival, baseUrl);
  if (!isFormTokenOf({ formToken }, form.get('form_token')))
    throw new ApiError('forbidden', 'This form is of an earlier session. Open the page again, then send it.');
  return form;
}

/** Compared in constant time. */
export function isFormTokenOf({ formToken }: Pick<SignedIn, 'formToken'>, given: unknown): boolean {
  const [own, theirs] = [Buffer.from(formToken), Buffer.from(typeof given === 'string' ? given : '')];
  return own.length === theirs.length && timingSafeEqual(own, theirs);
}

/** Where a request comes from, as sessions keep it. */
export function deviceAt({ peer, headers }: Arrival): Device {
  return { address: peer, agent: headers.get('user-agent') ?? '' };
}

/** The script of a page whose parts need one. */
export function scriptOf(parts: readonly { readonly script?: string }[]): Pick<PageOptions, 'script'> {
  const script = parts.find((part) => part.script !== undefined)?.script;
  return script === undefined ? {} : { script };
}
