// `/docs`: the API reference, offline. @elysiajs/swagger makes the page around Scalar; page and script are served by our own
// routes, so that they carry our headers and nothing is fetched from elsewhere.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Elysia } from 'elysia';
import { Type } from 'typebox';
// The package does not export this file by name.
import scalarFile from '../../node_modules/@scalar/api-reference/dist/browser/standalone.js' with { type: 'file' };
import { keep, type Kept } from './kept.ts';
import { defineRoute, type Route } from './route.ts';

/** The page takes tokens to try requests with, so it must not be framed, nor send anything elsewhere. */
const csp =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

export function docsRoutes(version: string): Route[] {
  let page: Promise<Kept> | null = null;
  let script: Promise<Kept> | null = null;
  return [
    defineRoute({
      method: 'GET',
      path: '/docs',
      name: 'docs.page',
      summary: 'The API reference as a page',
      scope: null,
      limit: 'read',
      kept: true,
      responses: { 200: Type.String() },
      contentType: 'text/html',
      raw: async () => ({
        contentType: 'text/html; charset=utf-8',
        body: await (page ??= keepPage(version)),
        headers: { 'content-security-policy': csp, 'cache-control': 'no-cache' },
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/docs/scalar.js',
      name: 'docs.script',
      summary: 'The script of the API reference',
      scope: null,
      limit: 'read',
      kept: true,
      responses: { 200: Type.String() },
      contentType: 'text/javascript',
      raw: async () => ({
        contentType: 'text/javascript; charset=utf-8',
        body: await (script ??= keep(readScript)),
        headers: { 'cache-control': 'public, max-age=86400' },
      }),
    }),
  ];
}

async function keepPage(version: string): Promise<Kept> {
  const html = await makePage(version);
  return keep(() => html);
}

async function makePage(version: string): Promise<string> {
  const configuration = {
    url: '/api/v1/openapi.json',
    withDefaultFonts: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    authentication: { preferredSecurityScheme: 'bearer' },
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
  };
  // Most processes are never asked for the page.
  const { swagger } = await import('@elysiajs/swagger');
  const page = await new Elysia()
    .use(
      swagger({
        path: '/docs',
        scalarCDN: '/docs/scalar.js',
        scalarConfig: { ...configuration, spec: { url: configuration.url } },
        documentation: { info: { title: 'Tatami API', description: 'The API reference of Tatami', version } },
      }),
    )
    .handle(new Request('http://localhost/docs'));
  return (
    (await page.text())
      // The plugin adds settings that Scalar warns of in every reader's console.
      .replace(/data-configuration='[^']*'/, `data-configuration='${JSON.stringify(configuration)}'`)
      // White space in it is an inline script to a browser, which the policy forbids.
      .replace(/>\s+<\/script>/, '></script>')
  );
}

async function readScript(): Promise<Uint8Array<ArrayBuffer>> {
  const script = await Bun.file(String(scalarFile)).bytes();
  // The executable holds it compressed.
  return String(scalarFile).endsWith('.gz') ? new Uint8Array(await promisify(gunzip)(script)) : script;
}
