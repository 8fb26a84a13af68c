// Opens the built web app: embedded in the executable, built on first use in a clone.
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embedded } from '../../platform/lib/process/embedded.ts';
import { cleanBunFlags, packageRoot } from '../../platform/lib/process/own-program.ts';
import { readPack, type Pack } from './pack.ts';

/** Returns a function that opens the web app once, at its first call. A failed build is tried again at the next call. */
export function createDashboard(): () => Promise<Pack> {
  let opened: Promise<Pack> | null = null;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}

async function open(): Promise<Pack> {
  if (embedded) return readPack(embedded.dashboard());
  const key = keyOf(packageRoot);
  const cache = writableCache();
  const path = join(cache ?? mkdtempSync(join(tmpdir(), 'tatami-')), `dashboard-${key}`);
  if (!existsSync(path)) await build(path);
  if (cache !== null) removeOthers(cache, `dashboard-${key}`);
  return readPack(new Uint8Array(readFileSync(path)));
}

/** @throws Error with the output of a failed build */
async function build(path: string): Promise<void> {
  // A process of its own, because the build takes over a second of CPU.
  const child = Bun.spawn(
    [process.execPath, ...cleanBunFlags, join(packageRoot, 'build/dashboard.ts'), path],
    {
      cwd: packageRoot,
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0)
    throw new Error(`The web app could not be built: ${errors.slice(0, 2_000)}`);
}

/** Returns the folder of built web apps; null if this user may not write to it. */
function writableCache(): string | null {
  const folder = join(packageRoot, 'node_modules/.cache/tatami');
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return folder;
  } catch {
    return null;
  }
}

function removeOthers(folder: string, retained: string): void {
  for (const name of readdirSync(folder))
    if (name.startsWith('dashboard-') && name !== retained) rmSync(join(folder, name), { force: true });
}

/** Returns a key of everything that enters the build. The lock file stands for the packages. */
function keyOf(root: string): string {
  const hash = createHash('sha256').update(`${Bun.version} ${Bun.revision}\n`);
  const add = (path: string): void => {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  };
  for (const folder of ['dashboard', 'sdk', 'core/app/dashboard'])
    for (const path of readdirSync(join(root, folder), { recursive: true }).map(String).toSorted())
      if (/\.(tsx?|css|json)$/.test(path)) add(join(folder, path));
  for (const path of ['build/dashboard.ts', 'core/kernel/html.ts', 'bun.lock']) add(path);
  return hash.digest('hex').slice(0, 32);
}
