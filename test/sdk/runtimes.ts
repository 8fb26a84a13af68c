// The runtimes that the SDK supports, each from npm and cached with the dependencies.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../imports.ts';

export interface Runtime {
  readonly name: string;
  /** The command before the path of a program. */
  readonly command: readonly string[];
}

const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
const cacheDir = join(root, 'node_modules/.cache/tatami-runtimes');

/** @throws Error if a runtime is neither cached nor available from npm */
export async function runtimes(): Promise<readonly Runtime[]> {
  const [node20, node22, deno] = await Promise.all([
    fetched(`node-linux-${arch}`, '20.20.2'),
    fetched(`node-linux-${arch}`, '22.23.3'),
    fetched(`@deno/linux-${arch}-glibc`, '2.9.6'),
  ]);
  return [
    { name: 'node-20', command: [join(node20, 'bin/node')] },
    { name: 'node-22', command: [join(node22, 'bin/node')] },
    { name: 'node-24', command: [join(root, `node_modules/node-linux-${arch}/bin/node`)] },
    { name: 'bun', command: [process.execPath] },
    { name: 'deno', command: [join(deno, 'deno'), 'run', '--no-prompt', '--allow-net', '--allow-read'] },
  ];
}

/** Returns the folder of a package. */
async function fetched(name: string, version: string): Promise<string> {
  const folder = join(cacheDir, `${name.replaceAll(/\W/g, '-')}-${version}`);
  const packageDir = join(folder, 'node_modules', name);
  if (existsSync(packageDir)) return packageDir;
  mkdirSync(cacheDir, { recursive: true });
  const making = mkdtempSync(join(cacheDir, 'fetch-'));
  try {
    await run(
      ['npm', 'install', '--silent', '--ignore-scripts', '--prefix', making, `${name}@${version}`],
      making,
    );
    // A concurrent test run may have created the folder.
    if (!existsSync(folder)) renameSync(making, folder);
  } catch (cause) {
    throw new Error(`${name} ${version} must be downloaded once: allow npm to reach its registry.`, {
      cause,
    });
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return packageDir;
}

/** @returns the stdout @throws Error with the output if the program fails */
export async function run(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(' ')} exited ${code}:\n${out}${err}`);
  return out;
}
