// Icons of this server, and its error pages.
import { Type } from 'typebox';
import { defineRoute, type RawAnswer, type Route } from '../../kernel/http/route.ts';
import type { ApiError, ErrorCode } from '../../platform/lib/errors/errors.ts';
import { html, iconIco, iconSvg, page } from '../../kernel/html.ts';

export const pageRoutes: readonly Route[] = [
  iconRoute('/favicon.ico', 'pages.icon', 'image/x-icon', iconIco),
  iconRoute('/favicon.svg', 'pages.icon_svg', 'image/svg+xml', iconSvg),
];

function iconRoute(path: string, name: string, contentType: string, body: RawAnswer['body']): Route {
  return defineRoute({
    method: 'GET',
    path,
    name,
    summary: 'Get the icon of this server',
    scope: null,
    limit: 'none',
    responses: { 200: Type.String() },
    contentType,
    raw: () => ({ contentType, body, headers: { 'cache-control': 'public, max-age=86400' } }),
  });
}

const errorPages: Partial<Record<ErrorCode, (error: ApiError) => RawAnswer>> = {
  not_found: ({ message, status }) =>
    page(
      'Page not found',
      html`<h1>Page not found</h1>
        <p>${message}</p>
        <p>Go to the <a href="/">start page</a> or to the <a href="/docs">API reference</a>.</p>`,
      { status },
    ),
  method_not_allowed: ({ status, headers }) =>
    page(
      'This page cannot be opened',
      html`<h1>This page cannot be opened</h1>
        <p>This address only accepts forms. Open the page with the form and send it again.</p>
        <p>Go to <a href="/account">your account</a> or to the <a href="/">start page</a>.</p>`,
      { status, headers },
    ),
};

/** Returns an HTML page for an error in a browser; null for errors without a page. */
export function errorPage(error: ApiError): RawAnswer | null {
  return errorPages[error.code]?.(error) ?? null;
}
