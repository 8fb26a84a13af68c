// Builds the web app into one file: `bun build/dashboard.ts OUTFILE`. A server that runs from a clone starts this as
// a process; the build of the executable embeds the file.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { BuildArtifact, BunPlugin } from 'bun';
import { packFiles, type PackedFile } from '../core/app/dashboard/pack.ts';
import { tokens } from '../core/kernel/html.ts';
import { root } from './paths.ts';

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Returns the packed files of the web app. @throws Error if bundling fails */
export async function buildDashboard(): Promise<Uint8Array> {
  const outputs = [
    ...(await bundle(['main.tsx', 'worker.ts'])),
    // A worker has no document, which some packages use in browsers.
    ...(await bundle(['markdown-worker.ts'], ['worker'])),
  ];
  const files = await Promise.all(
    outputs.map(async (output): Promise<PackedFile> => {
      const name = output.path.replace(/^.*\//, '');
      const content = new Uint8Array(await output.arrayBuffer());
      return { name, type: types[name.split('.').at(-1)!]!, encodings: encoded(content) };
    }),
  );
  // Dynamically imported style sheets are part of that of the entry, so the page loads one.
  const named = files.filter(({ name }) => name.endsWith('.js') || name.startsWith('main-'));
  return packFiles(named, {
    script: nameOf(named, 'main-', 'js'),
    style: nameOf(named, 'main-', 'css'),
    worker: nameOf(named, 'worker-', 'js'),
    markdownWorker: nameOf(named, 'markdown-worker-', 'js'),
  });
}

/** @param conditions of package exports, beside those of browsers */
async function bundle(entries: readonly string[], conditions: string[] = []): Promise<BuildArtifact[]> {
  const result = await Bun.build({
    entrypoints: entries.map((name) => join(root, 'dashboard', name)),
    conditions,
    target: 'browser',
    format: 'esm',
    // Each screen is a chunk of its own, loaded when it is opened.
    splitting: true,
    minify: true,
    // V8 compiles all functions while the file loads, on another thread, instead of each at its first call. Most are
    // called at once: https://v8.dev/blog/explicit-compile-hints.
    banner: '//# allFunctionsCalledOnLoad',
    naming: { entry: '[name]-[hash].[ext]', chunk: '[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    env: 'disable',
    tsconfig: join(root, 'dashboard/tsconfig.json'),
    plugins: [designTokens],
    throw: false,
  });
  if (!result.success) throw new Error(result.logs.map(String).join('\n'));
  return result.outputs;
}

/** Gives the app the style tokens that the server-rendered pages use. */
const designTokens: BunPlugin = {
  name: 'design-tokens',
  setup(build) {
    build.onLoad({ filter: /\/dashboard\/style\/tokens\.css$/ }, ({ path }) => ({
      contents: `${tokens}\n${readFileSync(path, 'utf8')}`,
      loader: 'css',
    }));
  },
};

function encoded(content: Uint8Array): PackedFile['encodings'] {
  return {
    br: brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
    zstd: Bun.zstdCompressSync(content, { level: 19 }),
    gzip: gzipSync(content, { level: 9 }),
  };
}

function nameOf(files: readonly PackedFile[], start: string, end: string): string {
  return files.find(({ name }) => name.startsWith(start) && name.endsWith(end))!.name;
}

if (import.meta.main) {
  const target = process.argv[2]!;
  const temporary = `${target}.${process.pid}`;
  writeFileSync(temporary, await buildDashboard());
  // Two servers may build at once, and each must find a whole file.
  renameSync(temporary, target);
}
