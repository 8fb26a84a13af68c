// Serves the web app: one page for all of its paths, and its files, whose names contain the hash of their content.
import { Type } from 'typebox';
import { html, page, iconIco, iconSvg, trusted } from '../../kernel/html.ts';
import { defineRoute, type RawAnswer, type Route } from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed } from '../../platform/lib/schema.ts';
import {
  leadToSignIn,
  noMembership,
  pageRoute,
  type Sessions,
  type SignedIn,
} from '../../features/sign-in/index.ts';
import type { EncodedFile, Pack, PackEntries } from './pack.ts';
import { paths } from './paths.ts';

/** Remote images load only after a click, which the app enforces, because a policy cannot. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob: https:",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

/** A request waits this long for the first build of a clone, within the idle timeout of its connection. */
const buildWaitMs = 5_000;

interface DashboardOptions {
  readonly sessions: Pick<Sessions, 'find'>;
  readonly baseUrl: string;
  readonly open: () => Promise<Pack>;
}

export function dashboardRoutes({ sessions, baseUrl, open }: DashboardOptions): Route[] {
  const answer = async ({
    headers,
    path,
    query,
  }: Parameters<Parameters<typeof pageRoute>[1]>[0]): Promise<RawAnswer> => {
    const who = await sessions.find(headers);
    if (!who) return leadToSignIn(baseUrl, path + (query.size === 0 ? '' : `?${query.toString()}`));
    if (who.memberships.length === 0) return noMembership(who);
    const pack = await Promise.race([open(), Bun.sleep(buildWaitMs)]);
    return pack ? appPage(pack.entries, who) : preparingPage(who);
  };
  return [
    ...Object.entries(paths).map(([name, path]) =>
      pageRoute(
        {
          method: 'GET',
          // `{token}` is the parameter that routes of pages have.
          path: path.replace(/\{\w+\}/, '{token}'),
          name: `dashboard.${name}`,
          summary: 'Show the web app',
        },
        answer,
      ),
    ),
    iconRoute('/favicon.ico', 'pages.icon', 'image/x-icon', iconIco),
    iconRoute('/favicon.svg', 'pages.icon_svg', 'image/svg+xml', iconSvg),
    defineRoute({
      method: 'GET',
      path: '/assets/{name}',
      name: 'dashboard.asset',
      summary: 'Get a file of the web app',
      scope: null,
      limit: 'none',
      ofPages: true,
      params: Closed({ name: Type.String({ maxLength: 100 }) }),
      responses: { 200: Type.String() },
      contentType: 'text/javascript',
      inbound: async ({ params }, { headers }) => {
        const file = (await open()).file(params.name, headers.get('accept-encoding') ?? '');
        if (!file) throw new ApiError('not_found', 'This file belongs to another version. Reload the page.');
        return assetAnswer(file);
      },
    }),
  ];
}

/** Page that a browser loads again until the app is built. */
function preparingPage(person: SignedIn): RawAnswer {
  return page(
    'Preparing the web app',
    html`<h1>Preparing the web app</h1>
      <p role="status">The first start after an update builds the app. This page continues by itself.</p>`,
    { person, headers: { refresh: '2', 'cache-control': 'no-store' } },
  );
}

function appPage({ script, style, worker, markdownWorker }: PackEntries, { formToken }: SignedIn): RawAnswer {
  return {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': policy,
      'x-frame-options': 'DENY',
      // The page contains the form token of the session.
      'cache-control': 'no-store',
    },
    body: html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="form-token" content="${formToken}" />
          <meta name="worker" content="/assets/${worker}" />
          <meta name="markdown-worker" content="/assets/${markdownWorker}" />
          <title>Tatami</title>
          <link rel="icon" href="data:image/svg+xml,${encodeURIComponent(iconSvg)}" />
          <link rel="stylesheet" href="/assets/${style}" />
          ${trusted(`<script type="module" src="/assets/${script}"></script>`)}
        </head>
        <body>
          <div id="app"></div>
          <noscript>The web app of Tatami needs JavaScript.</noscript>
        </body>
      </html>`.text,
  };
}

/** A shared worker obeys the policy of its own script, not that of the page. */
const assetPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'";

function assetAnswer({ type, encoding, content }: EncodedFile): RawAnswer {
  return {
    contentType: type,
    headers: {
      'content-security-policy': assetPolicy,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      ...(encoding && { 'content-encoding': encoding }),
    },
    body: content,
  };
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
