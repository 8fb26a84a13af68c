// Pages of this server: HTML as a type, whose inserted values are escaped unless they are `Html`, so that no
// page can omit escaping; the layout and security policy of all pages, which load nothing from other servers;
// and the forms, scripts and cookies of pages.
import { createHash } from 'node:crypto';
import { isLoopbackHost } from '../platform/lib/address.ts';
import { ApiError } from '../platform/lib/errors/errors.ts';
import { parseJson } from '../platform/lib/json/json.ts';
import type { RawAnswer, RawRequest } from './http/route.ts';

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/**
 * A value inserted into HTML. Null, undefined and false render nothing; an array renders its parts in order.
 */
export type HtmlContent = Html | string | number | null | undefined | false | readonly HtmlContent[];

/** `html\`<p>${text}</p>\``: escapes every value, for content and for quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlContent[]): Html {
  return new Html(strings.reduce((text, string, at) => text + textOf(parts[at - 1]) + string));
}

/** Marks our own HTML as safe, without escaping. */
export const trusted = (text: string): Html => new Html(text);

function textOf(part: HtmlContent): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(textOf).join('');
  if (part === null || part === undefined || part === false) return '';
  return String(part).replaceAll(/[&<>"']/g, (char) => entities[char]!);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The icon of all pages: a tatami mat of three panels. */
export const iconSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#1b6b3a"/><path d="M6 6h20v9H6zM6 17h9v9H6zM17 17h9v9h-9z" fill="#e8f5ec"/></svg>';

/**
 * The icon as a PNG of 32 × 32 pixels in an ICO file, which browsers request as `/favicon.ico` if a page
 * names no icon.
 */
export const iconIco = new Uint8Array(
  Buffer.from(
    'AAABAAEAICAAAAEAIACRAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAgAAAAIAIDAAAADhSSZwAAAAlQTFRFAAAAG2s66PXs/IB/sgAAAAF0Uk5TAEDm2GYAAAA2SURBVHjaY2AIBQMGBlYII4BBFMIIQTBCoQCJEbUKCJZSkYHNipVZUDXUYWBYgelTeCDAggUACT1tmFfzYhkAAAAASUVORK5CYII=',
    'base64',
  ),
);

const dark = `color-scheme: dark;
  --text: #e8e9ec; --text-soft: #a4abb7; --ground: #14161a; --raised: #1c1f25; --line: #353a44; --field-line: #747c8a; --soft: #23272e;
  --accent: #7ab8ff; --accent-text: #0b1a2b; --danger: #ff9b93; --danger-soft: #3a1f1d; --good: #7fd6a0; --good-soft: #173022;
  --warn: #f3c26b; --warn-soft: #33270f;`;

/**
 * Design tokens of all pages. The attribute `data-theme` of the root element, `dark` or `light`, takes precedence
 * over the preference of the system.
 */
export const tokens = `
:root {
  color-scheme: light;
  --text: #1c1f24; --text-soft: #565d69; --ground: #fbfbfa; --raised: #fff; --line: #d9dbe0; --field-line: #868d99; --soft: #f0f1f3;
  --accent: #0b62c4; --accent-text: #fff; --danger: #b3261e; --danger-soft: #fdeceb; --good: #1b6b3a; --good-soft: #e8f5ec;
  --warn: #7a4b00; --warn-soft: #fdf3e0;
  --space-1: .25rem; --space-2: .5rem; --space-3: .75rem; --space-4: 1rem; --space-6: 1.5rem; --space-8: 2rem;
  --radius: .5rem; --font: system-ui, sans-serif; --font-code: ui-monospace, monospace;
}
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { ${dark} } }
:root[data-theme=dark] { ${dark} }`;

/** Style of the header, which needs the tokens. */
const headerStyle = `
.site { display: flex; flex-wrap: wrap; gap: var(--space-2) var(--space-4); align-items: center; font: 1rem/1.6 var(--font); color: var(--text); border-bottom: 1px solid var(--line); padding-bottom: var(--space-2); margin-bottom: var(--space-6) }
.site a { color: var(--accent) } .site > a { display: flex; gap: var(--space-2); align-items: center; margin-right: auto; font-weight: 600; text-decoration: none; color: var(--text) } .site svg { width: 1.5rem; height: 1.5rem }
.site nav { display: flex; flex-wrap: wrap; gap: var(--space-2) var(--space-4); align-items: center; font-size: .9rem; border: none; padding: 0 } .site form { display: block; margin: 0 } .site button { padding: 0 var(--space-3) }`;

const style = `${tokens}
*, ::before, ::after { box-sizing: border-box } [hidden] { display: none !important }
body { font: 1rem/1.6 var(--font); color: var(--text); background: var(--ground); max-width: 46rem; margin: var(--space-8) auto; padding: 0 var(--space-4) }
nav { font-size: .9rem; border-bottom: 1px solid var(--line); padding-bottom: var(--space-2) }
a { color: var(--accent) } h1, h2, h3 { line-height: 1.25 } h2 { margin-top: 2.5rem }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
code, pre { font: .875em/1.5 var(--font-code) } code { background: var(--soft); padding: .1em .3em; border-radius: 3px }
pre { background: var(--soft); padding: var(--space-4); overflow-x: auto; border-radius: var(--radius) } pre code { background: none; padding: 0 }
td.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate } table { border-collapse: collapse; display: block; overflow-x: auto } th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top }
.card { max-width: 26rem; margin: 0 auto; background: var(--raised); border: 1px solid var(--line); border-radius: var(--radius); padding: var(--space-6) }
.card h1 { margin-top: 0; font-size: 1.4rem } .soft { color: var(--text-soft) }
form { display: grid; gap: var(--space-4); margin: var(--space-4) 0 } label { display: grid; gap: var(--space-1); font-weight: 600 } label small { font-weight: 400; color: var(--text-soft) }
label.choice { display: flex; gap: var(--space-2); align-items: baseline; font-weight: 400 } fieldset { border: 1px solid var(--line); border-radius: var(--radius) }
input:not([type=checkbox], [type=radio]), select, textarea { font: inherit; font-weight: 400; color: inherit; background: var(--ground); border: 1px solid var(--field-line); border-radius: var(--radius); padding: var(--space-2) var(--space-3); width: 100% }
button, .button { font: inherit; font-weight: 600; display: inline-block; border: 1px solid var(--accent); border-radius: var(--radius); padding: var(--space-2) var(--space-4); background: var(--accent); color: var(--accent-text); cursor: pointer; text-align: center; text-decoration: none }
button.plain, .button.plain { background: none; color: var(--accent) } button.danger { background: none; color: var(--danger); border-color: var(--danger) }
.code { font-family: var(--font-code); letter-spacing: .1em } .qr { width: 12rem; background: #fff; padding: var(--space-2); border-radius: var(--radius) } .qr svg { display: block; width: 100%; height: auto }
form.inline { display: block; margin: 0 } .inline button { padding: 0 var(--space-3) }
.actions { display: flex; gap: var(--space-3); flex-wrap: wrap; align-items: center } form.row { display: flex; gap: var(--space-2); margin: 0 } ul.plain { list-style: none; padding: 0; display: grid; gap: var(--space-4) }
.notice { border-radius: var(--radius); padding: var(--space-3) var(--space-4); background: var(--soft) } .notice:empty { display: none } .notice.problem { background: var(--danger-soft); color: var(--danger) } .notice.done { background: var(--good-soft); color: var(--good) } .notice.warning { background: var(--warn-soft); color: var(--warn) }${headerStyle}`;

/** Hash of the only style sheet, so that browsers apply no injected styles (CSP Level 3 §8.2). */
const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`;

/** Inline, so that the policy need not allow images of this server. */
const iconHref = `data:image/svg+xml,${encodeURIComponent(iconSvg)}`;

/** Signed-in person whose session a page belongs to. */
interface HeaderPerson {
  readonly formToken: string;
}

const productName = 'Tatami';
const logo = trusted(iconSvg.replace('<svg ', '<svg aria-hidden="true" '));
const links = html`<a href="/issues">Issues</a> <a href="/account">Account</a>`;
const docsLink = html`<a href="/docs/guides">Docs</a>`;

/**
 * Returns the header of all pages.
 * @param person the signed-in person; null on pages for people who are not signed in; undefined if the page does
 * not depend on the session
 */
function siteHeader(person: HeaderPerson | null | undefined): Html {
  const signOut =
    person &&
    html`<form method="post" action="/sign-out">
      <input type="hidden" name="form_token" value="${person.formToken}" /><button class="plain">
        Sign out
      </button>
    </form>`;
  return html`<header class="site">
    <a href="/">${logo}${productName}</a>
    <nav aria-label="Site">${person === null ? null : links} ${docsLink} ${signOut}</nav>
  </header>`;
}

/** Returns the title of a page in the browser. */
const documentTitle = (title: string): string =>
  title === productName ? title : `${title} · ${productName}`;

/** Parts that the API reference shares with the other pages; its own style sheet has one theme. */
export const docsFrame = {
  title: documentTitle('API reference'),
  style: `${tokens}${headerStyle}`,
  header: siteHeader(undefined).text,
};

export interface PageOptions {
  /** See `siteHeader`. */
  readonly person?: HeaderPerson | null;
  /** Links below the header. */
  readonly nav?: Html;
  readonly status?: number;
  /** Path of a script on this server. */
  readonly script?: string;
  /**
   * CSP sources in addition to this server to which the forms may redirect; browsers block other redirects of
   * a form.
   */
  readonly formsLeadTo?: readonly string[];
  readonly headers?: RawAnswer['headers'];
}

/** Returns a page that cannot be framed and loads only its own script. */
export function page(title: string, content: Html, options: PageOptions = {}): RawAnswer {
  const { person, nav, status = 200, script, headers } = options;
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    headers: { ...headers, 'content-security-policy': policyOf(options), 'x-frame-options': 'DENY' },
    body: html`<!doctype html>
      <html lang="en">
        <meta charset="utf-8" /><meta name="viewport" content="width=device-width" />
        <title>${documentTitle(title)}</title
        ><link
          rel="icon"
          href="${iconHref}"
        />${trusted(`<style>${style}</style>`)}${script === undefined ? null : html`<script src="${script}" defer></script>`}
        ${siteHeader(person)} ${nav}
        <main>${content}</main>
      </html>`.text,
  };
}

function policyOf({ script, formsLeadTo = [] }: PageOptions): string {
  return [
    "default-src 'none'",
    `style-src '${styleHash}'`,
    'img-src data:',
    ...(script === undefined ? [] : ["script-src 'self'", "connect-src 'self'"]),
    "frame-ancestors 'none'",
    "base-uri 'none'",
    `form-action ${["'self'", ...formsLeadTo].join(' ')}`,
  ].join('; ');
}

const bytesMax = 65_536;

/**
 * Returns the JSON body that the script of a page of this server sent.
 * @throws ApiError forbidden, unsupported_media_type, payload_too_large, malformed_request; validation_failed
 * if the body is not an object
 */
export async function readScriptCall(
  request: RawRequest,
  baseUrl: string,
): Promise<Readonly<Record<string, unknown>>> {
  requireOwnPage(request, baseUrl);
  // A form of another site cannot send this type.
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new ApiError('unsupported_media_type');
  const body = parseJson(new TextDecoder().decode(await request.read(bytesMax)));
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ApiError('validation_failed', 'Send a JSON object.');
  return body as Record<string, unknown>;
}

const formBytesMax = 65_536;

/**
 * Returns the fields of a form that a page of this server sent. Browsers name the source of a form
 * (`Sec-Fetch-Site`, W3C Fetch Metadata; `Origin`, RFC 6454), and other sites cannot forge these headers, so
 * that forms of other sites are rejected before they are read.
 * @param baseUrl of this server
 * @throws ApiError forbidden, unsupported_media_type, payload_too_large
 */
export async function readForm(request: RawRequest, baseUrl: string): Promise<URLSearchParams> {
  requireOwnPage(request, baseUrl);
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.');
  return new URLSearchParams(new TextDecoder().decode(await request.read(formBytesMax)));
}

/** @throws ApiError forbidden for a request that no page of this server sent */
function requireOwnPage(request: RawRequest, baseUrl: string): void {
  const { headers } = request;
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  const ownOrigin = originOf(reachedAddress(request, baseUrl) ?? baseUrl);
  // Our pages send no referrer, so browsers send `null` as their origin (WHATWG Fetch §3.1.7).
  const isOwnPage =
    site === 'same-origin'
      ? origin === 'null' || origin === ownOrigin
      : site === null && origin === ownOrigin;
  // Under another host name of this server, browsers send `null` and `same-origin` as well, so the host is
  // compared.
  const isOwn = isOwnPage && isAtOwnHost(request, baseUrl);
  if (!isOwn) throw new ApiError('forbidden', `Open ${baseUrl} in a browser and send the form there.`);
}

const isAtOwnHost = (request: RawRequest, baseUrl: string): boolean =>
  reachedAddress(request, baseUrl) !== null;

/**
 * Returns the address at which a request reached this server: the base URL, or that with another loopback name,
 * because `127.0.0.1` and `localhost` are the same machine, and no DNS answer can make another name one of them.
 * The port may be absent, as with `Host $host` in nginx.
 * @returns null for other hosts
 */
export function reachedAddress({ headers }: Pick<RawRequest, 'headers'>, baseUrl: string): string | null {
  const own = new URL(baseUrl);
  const hostUrl = `${own.protocol}//${headers.get('host') ?? ''}`;
  if (!URL.canParse(hostUrl)) return null;
  const { hostname, port } = new URL(hostUrl);
  if (hostname === own.hostname) return port === '' || port === own.port ? baseUrl : null;
  if (!isLoopbackHost(hostname) || !isLoopbackHost(own.hostname) || port !== own.port) return null;
  own.hostname = hostname;
  return own.href.replace(/\/$/, '');
}

const originOf = (url: string): string => new URL(url).origin;

/**
 * Prefix of cookies (RFC 6265bis §4.1.3.2) that are bound to the host, hidden from scripts, and sent only
 * over secure connections, which in browsers include connections to loopback addresses.
 */
const prefix = '__Host-';

/** Returns the value of a cookie in a request; null for none. */
export function cookieOf(headers: Headers, name: string): string | null {
  for (const pair of headers.get('cookie')?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at).trim() === prefix + name) return pair.slice(at + 1).trim();
  }
  return null;
}

/** Returns a `Set-Cookie` line. @param seconds lifetime in the browser; 0 deletes the cookie */
export function cookieLine(name: string, value: string, seconds: number): string {
  return `${prefix}${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`;
}
