// Bundles the program and joins it with Bun and the artifacts to one executable.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BunPlugin } from 'bun';
import { makeArtifacts } from './artifacts.ts';
import { packageFolder } from './packages.ts';
import { root } from './paths.ts';
import type { Target } from './targets.ts';

/** @param level of zstd. @throws Error when something does not bundle */
export async function buildExecutable(target: Target, outfile: string, level: number): Promise<void> {
  const result = await Bun.build({
    entrypoints: ['executable/main.ts', 'store/writer/thread-main.ts'].map((path) =>
      join(root, 'core', path),
    ),
    // All beside each other, where the thread is looked for.
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    format: 'esm',
    // The entry of the jail, the thread and short commands load their own part alone.
    splitting: true,
    // Names stay: they are what an operator's log shows of an error.
    minify: { whitespace: true, syntax: true, identifiers: false },
    env: 'disable',
    compile: {
      target: target.bun,
      executablePath: bunOf(target),
      outfile,
      // The folder where it is started has no say.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
    plugins: [parts(await makeArtifacts(target, level))],
    throw: false,
  });
  if (!result.success) throw new Error(result.logs.map(String).join('\n'));
}

/** Bun's installation moves the one of this machine out of its package: it is what runs here. */
function bunOf({ arch, packages }: Target): string {
  return arch === process.arch ? process.execPath : join(packageFolder(packages.bun), 'bin/bun');
}

/** Puts what is embedded in the place of what lies beside the program from source. */
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
      build.onLoad({ filter: /\/core\/lib\/embedded\.ts$/ }, ({ path }) => ({
        contents: replaced(path, {
          'export const embedded: Embedded | null = null;':
            "export { embedded } from '../executable/embedded.ts';",
        }),
        loader: 'ts',
      }));
      const loader = JSON.stringify(join(root, 'core/executable/libsql.ts'));
      build.onLoad({ filter: /\/libsql\/(index|promise)\.js$/ }, ({ path }) => ({
        contents: replaced(path, {
          'return require(`@libsql/${target}`);': `return require(${loader}).loadLibsql();`,
          // It would name a folder of the machine that builds.
          'load(__dirname)': 'undefined',
        }),
        loader: 'js',
      }));
    },
  };
}

/** @throws Error when the file is no longer what this was written for */
function replaced(path: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${path} has no \`${from}\` to replace.`);
      return text.replace(from, () => to);
    },
    readFileSync(path, 'utf8'),
  );
}
