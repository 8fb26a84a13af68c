// The built web app: size, policy, paths, and its delivery over HTTP.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join as pathOf } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { buildDashboard } from '../../build/dashboard.ts';
import { readPack, type Pack } from '../../core/app/dashboard/pack.ts';
import { paths } from '../../core/app/dashboard/paths.ts';
import { startApp, type TestApp } from '../app.ts';
import { join } from '../features/sign-in/member.ts';

let app: TestApp;
let bytes: Uint8Array<ArrayBuffer>;
let pack: Pack;
beforeAll(async () => {
  app = await startApp();
  bytes = new Uint8Array(await buildDashboard());
  pack = readPack(bytes);
  // The server builds the web app of a clone at the first request.
  await fetch(`${app.url}/assets/${pack.entries.worker}`);
}, 60_000);
afterAll(() => app.stop());

const decoders: Readonly<Record<string, (content: Uint8Array) => Uint8Array>> = {
  br: brotliDecompressSync,
  zstd: (content) => Bun.zstdDecompressSync(content),
  gzip: gunzipSync,
  identity: (content) => content,
};

const textOf = (name: string): string => new TextDecoder().decode(pack.file(name, '')!.content);

/** Returns the scripts that another one imports. */
function importsOf(name: string, kind: 'import-statement' | 'dynamic-import'): string[] {
  return new Bun.Transpiler({ loader: 'js' })
    .scanImports(textOf(name))
    .filter((found) => found.kind === kind)
    .map(({ path }) => path.replace('./', ''));
}

/** Returns the script with everything that it loads at once. */
function staticImports(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const next of importsOf(name, 'import-statement')) staticImports(next, seen);
  return seen;
}

/** Returns the name of the script of a screen. */
function screenOf(path: string): string {
  const start = textOf(pack.entries.script).split(`path:"${path}"`)[1];
  return /import\("\.\/([^"]+)"\)/.exec(start ?? '')![1]!;
}

function listedNames(): string[] {
  const { files } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(10)))) as {
    files: readonly { name: string }[];
  };
  return files.map(({ name }) => name);
}

const sizeOf = (name: string): number => pack.file(name, 'gzip')!.content.length;

test('every screen that is opened first loads at most 200 KB of compressed JavaScript and 30 KB of CSS', () => {
  const { root: _, ...screens } = paths;
  const large: string[] = [];
  for (const path of Object.values(screens)) {
    const scripts = staticImports(pack.entries.script);
    staticImports(screenOf(path.replace(/\{(\w+)\}/, '$$$1')), scripts);
    const size = [...scripts].reduce((sum, name) => sum + sizeOf(name), 0);
    if (size > 200_000) large.push(`${path}: ${size}`);
  }
  expect(large).toEqual([]);
  expect(textOf(pack.entries.style).length).toBeLessThanOrEqual(30_000);
});

test('no file of the web app evaluates text as code', () => {
  const names = listedNames();
  expect(names).toContain(pack.entries.worker);
  expect(names.filter((name) => /\b(?:eval|Function)\(/.test(textOf(name)))).toEqual([]);
});

test('every import of the web app is one of its files', () => {
  const names = listedNames();
  const imports = names
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => [...importsOf(name, 'import-statement'), ...importsOf(name, 'dynamic-import')]);
  expect(imports.filter((name) => !names.includes(name))).toEqual([]);
});

test('the router has a screen for every path that the server answers', () => {
  const routes = readFileSync(pathOf(import.meta.dir, '../../dashboard/routes.tsx'), 'utf8');
  const served = Object.values(paths).map((path) => path.replace(/\{(\w+)\}/, '$$$1'));
  const routed = [...routes.matchAll(/\bpath: '([^']+)'/g)].map(([, path]) => path!);
  expect(routed.toSorted()).toEqual(served.toSorted());
});

test('files are immutable and equal in every content encoding', async () => {
  for (const name of Object.values(pack.entries))
    for (const [encoding, decode] of Object.entries(decoders)) {
      const response = await fetch(`${app.url}/assets/${name}`, {
        headers: { 'accept-encoding': encoding },
        decompress: false,
      });
      expect([name, response.status]).toEqual([name, 200]);
      expect(response.headers.get('content-encoding') ?? 'identity').toBe(encoding);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('vary')?.toLowerCase()).toContain('accept-encoding');
      expect(new TextDecoder().decode(decode(await response.bytes()))).toBe(textOf(name));
    }
});

test('a weight of zero forbids a content encoding', () => {
  expect(pack.file(pack.entries.script, 'br;q=0, zstd;q=0.0, gzip')!.encoding).toBe('gzip');
});

test('a file of another version is not found', async () => {
  expect((await fetch(`${app.url}/assets/main-00000000.js`)).status).toBe(404);
});

test('the page is not stored, and its policy allows nothing unsafe', async () => {
  const { visitor } = await join(app);
  const { status, headers } = await visitor.get('/my-issues');
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toBe('no-store');
  const policy = headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe-');
});

test('a person without a session is led to sign-in from every path', async () => {
  for (const path of Object.values(paths)) {
    const response = await fetch(app.url + path.replace(/\{\w+\}/, 'ENG-1'), { redirect: 'manual' });
    expect([path, response.status]).toEqual([path, 303]);
    expect(response.headers.get('location')).toContain('/sign-in');
  }
});
