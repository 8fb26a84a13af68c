// Serves the passkey script. Pages load it from a URL with its hash, so that browsers can cache it
// permanently.
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { html, type Html } from '../../../kernel/html.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { Closed } from '../../../platform/lib/schema.ts';
import text from './in-browser.js' with { type: 'text' };

const path = '/assets/passkeys.js';
const version = createHash('sha256').update(text).digest('hex').slice(0, 16);

export const passkeyScript: string = `${path}?v=${version}`;

export const passkeyScriptRoute: Route = defineRoute({
  method: 'GET',
  path,
  name: 'assets.passkeys',
  summary: 'Get the passkey script of the pages',
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
 * Returns a form that the script submits. The form is hidden until the script runs, so that browsers without
 * WebAuthn do not show it.
 * @param method method of `navigator.credentials`
 */
export function passkeyForm(method: 'create' | 'get', action: string, content: Html): Html {
  return html`<form action="${action}" data-passkey="${method}" hidden>
    ${content}
    <p class="notice problem" role="alert"></p>
  </form>`;
}
