// Layout and security policy of all pages. Pages load nothing from other servers.
import { createHash } from 'node:crypto';
import type { RawAnswer } from '../http/route.ts';
import { html, trusted, type Html } from './html.ts';
import { iconSvg } from './icon.ts';
import { style } from './style.ts';

/** Hash of the only style sheet, so that browsers apply no injected styles (CSP Level 3 §8.2). */
const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`;

/** Inline, so that the policy need not allow images of this server. */
const iconHref = `data:image/svg+xml,${encodeURIComponent(iconSvg)}`;

export interface PageOptions {
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
  const { nav, status = 200, script, headers } = options;
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    headers: { ...headers, 'content-security-policy': policyOf(options), 'x-frame-options': 'DENY' },
    body: html`<!doctype html>
      <html lang="en">
        <meta charset="utf-8" /><meta name="viewport" content="width=device-width" />
        <title>${title}</title
        ><link
          rel="icon"
          href="${iconHref}"
        />${trusted(`<style>${style}</style>`)}${script === undefined ? null : html`<script src="${script}" defer></script>`}
        ${nav}
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
