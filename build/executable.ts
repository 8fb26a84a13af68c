// Bundles the program and joins it with Bun and the artifacts into one executable.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BunPlugin } from 'bun';
import { autoload } from '../core/app/start/bundler.ts';
import { threadEntries } from '../core/app/start/threads.ts';
import { makeArtifacts } from './artifacts.ts';
import { packageFolder } from './packages.ts';
import { root } from './paths.ts';
import type { Target } from './targets.ts';

/** @param level of zstd. @throws Error if bundling fails */
export async function buildExecutable(target: Target, outfile: string, level: number): Promise<void> {
  const result = await Bun.build({
    entrypoints: ['app/executable/main.ts', ...threadEntries].map((path) => join(root, 'core', path)),
    // Puts all outputs into one folder, because the program looks for its threads there.
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    format: 'esm',
    // Lets the jail's entry, the writer thread and short commands load only their own part.
    splitting: true,
    // Keeps names, because they appear in stack traces in the operator's log.
    minify: { whitespace: true, syntax: true, identifiers: false },
    env: 'disable',
    compile: {
      target: target.bun,
      executablePath: bunOf(target),
      outfile,
      ...autoload,
    },
    plugins: [parts(await makeArtifacts(target, level))],
    throw: false,
  });
  if (!result.success) throw new Error(result.logs.map(String).join('\n'));
}

/**
 * Returns the path of Bun for a target. For this machine it is the running one, because Bun's installer moves
 * that binary out of its package.
 */
function bunOf({ arch, packages }: Target): string {
  return arch === process.arch ? process.execPath : join(packageFolder(packages.bun), 'bin/bun');
}

/** Replaces files and packages on disk with their embedded counterparts. */
function parts(artifacts: string): BunPlugin {
  return {
    name: 'tatami-parts',
    setup(build) {
      build.onResolve({ filter: /^artifact:/ }, ({ path }) => ({
        path: join(artifacts, path.slice('artifact:'.length)),
      }));
      build.onResolve({ filter: /\/swagger-ui-dist\// }, ({ path }) => ({
        path: join(artifacts, `${basename(path)}.gz`),
      }));
      build.onLoad({ filter: /\/core\/platform\/lib\/process\/embedded\.ts$/ }, ({ path }) => ({
        contents: replaced(path, {
          'export const embedded: Embedded | null = null;':
            "export { embedded } from '../../../app/executable/embedded.ts';",
        }),
        loader: 'ts',
      }));
      const loader = JSON.stringify(join(root, 'core/app/executable/libsql.ts'));
      build.onLoad({ filter: /\/libsql\/(index|promise)\.js$/ }, ({ path }) => ({
        contents: replaced(path, {
          'return require(`@libsql/${target}`);': `return require(${loader}).loadLibsql();`,
          // Removes a path that would name a folder of the build machine.
          'load(__dirname)': 'undefined',
        }),
        loader: 'js',
      }));
    },
  };
}

/** @throws Error if the file does not contain the expected text */
function replaced(path: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${path} has no \`${from}\` to replace.`);
      return text.replace(from, () => to);
    },
    readFileSync(path, 'utf8'),
  );
}
