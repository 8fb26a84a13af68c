// The script by which pages ask for passkeys, at an address that changes with it: browsers keep it for good.
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { html, type Html } from '../../html/html.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { Closed } from '../../lib/schema.ts';
import text from './in-browser.js' with { type: 'text' };

const path = '/assets/passkeys.js';
const version = createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Where pages load it. */
export const passkeyScript: string = `${path}?v=${version}`;

export const passkeyScriptRoute: Route = defineRoute({
  method: 'GET',
  path,
  name: 'assets.passkeys',
  summary: 'The script by which pages ask for passkeys',
  scope: null,
  limit: 'read',
  query: Closed({ v: Type.Optional(Type.String({ maxLength: 64 })) }),
  responses: { 200: Type.String() },
  contentType: 'text/javascript',
  raw: () => ({
    contentType: 'text/javascript; charset=utf-8',
    body: text,
    headers: { 'cache-control': 'public, max-age=31536000, immutable' },
  }),
});

/**
 * A form that the script sends: hidden until it runs, so that nobody is offered what their browser cannot do.
 * @param kind of the methods of `navigator.credentials`
 */
export function passkeyForm(kind: 'create' | 'get', action: string, content: Html): Html {
  return html`<form action="${action}" data-passkey="${kind}" hidden>
    ${content}
    <p class="notice problem" role="alert"></p>
  </form>`;
}
