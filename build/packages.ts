// Finds the folder of a package for any architecture: the installed one if it suits this machine, otherwise a
// package fetched with npm and verified against bun.lock.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, root } from './paths.ts';

/** @throws Error if the package cannot be fetched or differs from what bun.lock pins */
export function packageFolder(name: string): string {
  const installed = join(root, 'node_modules', name);
  if (existsSync(installed)) return installed;
  const { version, integrity } = pinned(name);
  const cached = join(cacheDir, `${name.replaceAll(/\W/g, '-')}-${version}`);
  if (!existsSync(cached)) fetchTo(cached, `${name}@${version}`, integrity);
  return join(cached, 'package');
}

function pinned(name: string): { version: string; integrity: string } {
  const quoted = RegExp.escape(name);
  const line = new RegExp(`"${quoted}": \\["${quoted}@([^"]+)", .*"(sha512-[^"]+)"\\]`).exec(
    readFileSync(join(root, 'bun.lock'), 'utf8'),
  );
  const [, version, integrity] = line ?? [];
  if (version === undefined || integrity === undefined) throw new Error(`bun.lock does not pin ${name}.`);
  return { version, integrity };
}

function fetchTo(folder: string, spec: string, integrity: string): void {
  mkdirSync(cacheDir, { recursive: true });
  const making = mkdtempSync(join(cacheDir, 'fetch-'));
  try {
    const [file = ''] = run(['npm', 'pack', '--silent', spec], making).trim().split('\n').slice(-1);
    const tarball = join(making, file);
    const actual = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
    if (actual !== integrity) throw new Error(`${spec} does not match the integrity in bun.lock: ${actual}.`);
    run(['tar', '-xzf', tarball], making);
    rmSync(tarball);
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

function run(command: string[], cwd: string): string {
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd });
  if (!success) throw new Error(`${command.join(' ')} failed: ${stderr.toString().trim()}`);
  return stdout.toString();
}
