// Placeholder pages without tenant data: the root and the `url` of an issue.
import { Type } from 'typebox';
import { defineRoute, type RawAnswer, type Route } from '../../kernel/http/route.ts';
import { Closed } from '../../platform/lib/schema.ts';
import { issue } from '../../features/issues/contract.ts';
import { html, iconIco, iconSvg, page } from '../../kernel/html.ts';

export function pageRoutes(baseUrl: string): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/',
      name: 'pages.root',
      summary: 'Show the start page',
      scope: null,
      limit: 'read',
      responses: { 200: Type.String() },
      contentType: 'text/html',
      raw: () =>
        page(
          'Tatami',
          html`<h1>Tatami</h1>
            <p>
              This is a Tatami server. Go to <a href="${baseUrl}/account">your account</a>, or see the
              <a href="${baseUrl}/docs">API reference</a>, the <a href="${baseUrl}/docs/guides">guides</a> or
              the <a href="${baseUrl}/api/v1/openapi.json">OpenAPI document</a>.
            </p>`,
        ),
    }),
    defineRoute({
      method: 'GET',
      path: '/issues/{identifier}',
      name: 'pages.issue',
      summary: 'Show the page of an issue',
      scope: null,
      limit: 'read',
      params: Closed({ identifier: Type.String({ pattern: issue.alias.pattern }) }),
      responses: { 200: Type.String() },
      contentType: 'text/html',
      raw: ({ params }) =>
        page(
          params.identifier,
          html`<h1>${params.identifier}</h1>
            <p>There is no web app yet. Get this issue with the API:</p>
            <pre>
curl '${baseUrl}/api/v1/issues/${params.identifier}' \\
  -H 'Authorization: Bearer ttm_…'</pre>`,
        ),
    }),
    iconRoute('/favicon.ico', 'pages.icon', 'image/x-icon', iconIco),
    iconRoute('/favicon.svg', 'pages.icon_svg', 'image/svg+xml', iconSvg),
  ];
}

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
