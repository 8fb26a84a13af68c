// Serves the OpenAPI document, and at `/docs` the API reference, in which Swagger UI reads it. Page, script
// and style come from this server, so that the reference works offline.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Type } from 'typebox';
import scriptFile from '../../../../node_modules/swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' };
import styleFile from '../../../../node_modules/swagger-ui-dist/swagger-ui.css' with { type: 'file' };
import { namedSchema } from '../../../platform/lib/schema.ts';
import { cacheBody, type CachedBody } from '../request/body.ts';
import { defineRoute, type Route } from '../route.ts';
import { buildDocument, type DocumentFacts } from './document.ts';

/**
 * Readers enter tokens here to try requests, so the page must not be framed or send data to other servers.
 */
const csp =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Parts that the reference shares with the other pages. */
interface DocsFrame {
  readonly title: string;
  readonly style: string;
  readonly header: string;
}

const htmlOf = ({ title, style, header }: DocsFrame): string => `<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/docs/viewer.css">
<style>${style}
.site { max-width: 1460px; margin: 0 auto; padding: .75rem 1.25rem }</style>
</head>
<body>
${header}
<main id="reference"></main>
<noscript>The API reference needs JavaScript. <a href="/api/v1/openapi.json">Read the OpenAPI document</a> instead.</noscript>
<script src="/docs/viewer.js"></script>
</body>
</html>
`;

/**
 * Settings of Swagger UI. Models are listed under their operations alone, because the list at the end repeats
 * them.
 */
const settings = {
  url: '/api/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: -1,
};

export const docsRoutes = (frame: DocsFrame): Route[] => [
  file('/docs', {
    name: 'docs.page',
    summary: 'Show the API reference',
    contentType: 'text/html',
    headers: { 'content-security-policy': csp, 'cache-control': 'no-cache' },
    read: () => htmlOf(frame),
  }),
  file('/docs/viewer.js', {
    name: 'docs.script',
    summary: 'Get the script of the API reference',
    contentType: 'text/javascript',
    headers: { 'cache-control': 'public, max-age=86400' },
    // The page's policy allows no inline script, so the call that starts the viewer follows its code.
    read: async () => `${await packaged(scriptFile)}\nSwaggerUIBundle(${JSON.stringify(settings)});\n`,
  }),
  file('/docs/viewer.css', {
    name: 'docs.style',
    summary: 'Get the style of the API reference',
    contentType: 'text/css',
    headers: { 'cache-control': 'public, max-age=86400' },
    read: () => packaged(styleFile),
  }),
];

interface File {
  readonly name: string;
  readonly summary: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  read(): string | Promise<string>;
}

function file(path: string, { name, summary, contentType, headers, read }: File): Route {
  let cachedFile: Promise<CachedBody> | null = null;
  return defineRoute({
    method: 'GET',
    path,
    name,
    summary,
    scope: null,
    limit: 'read',
    cached: true,
    responses: { 200: Type.String() },
    contentType,
    raw: async () => ({
      contentType: `${contentType}; charset=utf-8`,
      body: await (cachedFile ??= cacheBody(read)),
      headers,
    }),
  });
}

/** Reads a file of a package, which the executable contains compressed. */
async function packaged(path: string): Promise<string> {
  if (!path.endsWith('.gz')) return Bun.file(path).text();
  return String(await promisify(gunzip)(await Bun.file(path).bytes()));
}

const OpenApiDocument = namedSchema(
  'OpenApiDocument',
  Type.Object(
    {},
    {
      description: 'OpenAPI 3.1 document; see spec.openapis.org.',
      examples: [{ openapi: '3.1.1', info: { title: 'Tatami', version: '1.0.0' }, paths: {} }],
    },
  ),
);

interface OpenApi {
  readonly route: Route;
  /**
   * Sets the routes of the document. Routes that contradict each other make the first request for it fail.
   */
  describe(routes: readonly Route[]): void;
}

/**
 * Returns the route of the document, which is built on the first request, from the mounted routes including
 * its own.
 */
export function createOpenApi(facts: DocumentFacts): OpenApi {
  let described: readonly Route[] = [];
  let cachedDocument: Promise<CachedBody> | null = null;
  const build = (): Promise<CachedBody> => {
    const text = JSON.stringify(buildDocument({ ...facts, routes: described }));
    return cacheBody(() => text);
  };
  return {
    describe: (routes) => void (described = routes),
    route: defineRoute({
      method: 'GET',
      path: '/api/v1/openapi.json',
      name: 'openapi.get',
      summary: 'Get the OpenAPI document',
      scope: null,
      limit: 'read',
      cached: true,
      responses: { 200: OpenApiDocument },
      raw: async () => ({
        contentType: 'application/json',
        body: await (cachedDocument ??= build()),
        headers: { 'cache-control': 'public, no-cache' },
      }),
    }),
  };
}
