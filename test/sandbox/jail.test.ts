// The reported level of the jail is true and names missing parts: on this kernel, on one without Landlock, for a user
// who is not root. `hostile-sidecar/native.test.ts` covers the refusals of the jail.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { packageRoot } from '../../core/platform/lib/process/own-program.ts';
import { findHierarchies } from '../../core/platform/sandbox/jail/cgroup.ts';
import { absentOf, levelOf, missingOf } from '../../core/platform/sandbox/jail/level.ts';
import type { JailReport } from '../../core/platform/sandbox/jail/level.ts';
import { prepareJail } from '../../core/platform/sandbox/jail/prepare.ts';
import { syscallRules } from '../../core/platform/sandbox/jail/seccomp.ts';
import { findAddon, findNode } from '../../core/platform/sandbox/locate.ts';
import { startSandbox } from '../../core/platform/sandbox/supervisor.ts';
import { jobOf, openSandbox, pluginOf, sidecarPids } from './harness.ts';

const onLinux = process.platform === 'linux';
const isRoot = onLinux && process.getuid?.() === 0;
const files = { nodePath: findNode(), addonPath: findAddon() };
/** A user who is not root and owns no files. */
const nobody = 65534;
const allOfIt: JailReport = {
  landlock: 6,
  seccomp: true,
  rlimits: true,
  powerless: true,
  ownUser: true,
  namespaces: ['user', 'pid', 'net', 'ipc', 'uts'],
  controlGroup: true,
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tatami-jail-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Opens a sandbox in a separate process and prints its jail report.
 * @param harness path of its module
 */
const openFiles = (harness: string): string => `
  import { openSandbox, jobOf, pluginOf } from ${JSON.stringify(harness)};
  try {
    const sandbox = await openSandbox({ jail: process.argv.at(-1) });
    const { status } = await sandbox.run(jobOf('ins_any', await pluginOf('await ctx.issues.get(1);')));
    await sandbox.stop();
    const [said] = sandbox.logged.filter(({ message }) => message.startsWith('Plugins run '));
    console.log(JSON.stringify({ status, message: said?.message, ...said?.fields }));
  } catch (error) {
    console.log(JSON.stringify({ status: 'refused', message: String(error) }));
  }
`;

/** From here on Landlock's first call is refused, as by a kernel without Landlock. */
const noLandlock = `
  import { dlopen, ptr } from 'bun:ffi';
  const { symbols } = dlopen('libc.so.6', { prctl: { args: ['i32', 'u64', 'u64', 'u64', 'u64'], returns: 'i32' } });
  const filter = new Uint8Array(new Uint32Array([0x20, 0, 0x01000015, 444, 0x06, 0x00050026, 0x06, 0x7fff0000]).buffer);
  const header = new BigUint64Array([4n, BigInt(ptr(filter))]);
  symbols.prctl(38, 1n, 0n, 0n, 0n);
  symbols.prctl(22, 2n, BigInt(ptr(header)), 0n, 0n);
`;

interface JailOutput extends Partial<JailReport> {
  status: string;
  message: string;
  missing?: string[];
  absent?: string[];
}

interface Elsewhere {
  /** Code that the process runs first. */
  before?: string;
  jail?: string;
  uid?: number;
  /** Prefix of the command. */
  under?: readonly string[];
  /** Path at which the checkout is mounted. */
  checkout?: string;
}

async function openElsewhere(how: Elsewhere = {}): Promise<JailOutput> {
  const { before = '', jail = 'auto', uid, under = [], checkout = packageRoot } = how;
  const there = (path: string): string => join(checkout, relative(packageRoot, path));
  const script = join(folder, `open-${crypto.randomUUID()}.ts`);
  writeFileSync(script, `${before}\n${openFiles(there(join(import.meta.dir, 'harness.ts')))}`);
  chmodSync(folder, 0o755);
  const child = Bun.spawn([...under, there(process.execPath), script, jail], {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    stderr: 'inherit',
    env: {},
  });
  return JSON.parse(await new Response(child.stdout).text()) as JailOutput;
}

/** Prefix of a command that sees the checkout mounted below a folder that only root may enter. */
function inPrivateFolder(): { under: string[]; checkout: string } {
  const above = join(folder, 'p rivé ü');
  const checkout = join(above, 'tatami');
  mkdirSync(checkout, { recursive: true });
  chmodSync(above, 0o700);
  const command = 'mount --bind "$0" "$1" && shift && exec "$@"';
  return {
    under: ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', command, packageRoot, checkout],
    checkout,
  };
}

function canMount(): boolean {
  const mountDir = mkdtempSync(join(tmpdir(), 'tatami-mount-'));
  const command = [
    'unshare',
    '--mount',
    '--propagation',
    'private',
    'mount',
    '--bind',
    packageRoot,
    mountDir,
  ];
  const { success } = Bun.spawnSync(command, { stderr: 'ignore' });
  rmSync(mountDir, { recursive: true });
  return success;
}

/** True if other users can reach the checkout. */
function isPublic(): boolean {
  const command = ['test', '-r', join(import.meta.dir, 'harness.ts')];
  return Bun.spawnSync(command, { uid: nobody, gid: nobody, cwd: '/' }).success;
}

describe.skipIf(!onLinux)('the level of the jail (needs Linux)', () => {
  test('is that of the sidecar, and is logged with the missing parts', async () => {
    const sandbox = await openSandbox();
    const { jail, sidecars } = sandbox.status();
    const status = readFileSync(`/proc/${sidecars[0]?.pid}/status`, 'utf8');
    await sandbox.stop();
    const [said] = sandbox.logged.filter(({ message }) => message.includes(`(level ${jail})`));
    const report = said?.fields as JailReport & { missing: string[]; absent: string[] };
    expect(levelOf(report)).toBe(jail);
    expect(report.missing).toEqual(missingOf(report));
    expect(report.absent).toEqual(absentOf(report));
    if (report.powerless) expect(status).toMatch(/^CapEff:\s*0+$/m);
    if (report.ownUser && isRoot) expect(status).not.toMatch(/^Uid:\s*0\b/m);
    if (report.namespaces.includes('pid')) expect(status).toMatch(/^NSpid:\s*\d+\s+1$/m);
    if (report.controlGroup) expect(findHierarchies().length).toBeGreaterThan(0);
  });

  test('is partial on a kernel without Landlock, which a strict jail rejects by name', async () => {
    const auto = await openElsewhere({ before: noLandlock });
    expect(auto).toMatchObject({ status: 'succeeded', landlock: 0 });
    expect(auto.message).toEndWith(
      '(level partial): install only plugins that you trust. Missing: Landlock ABI 6 (the kernel has none).',
    );
    expect(auto.missing).toEqual(['Landlock ABI 6 (the kernel has none)']);
    const strict = await openElsewhere({ before: noLandlock, jail: 'strict' });
    expect(strict).toMatchObject({ status: 'refused' });
    expect(strict.message).toContain('a strict jail needs Landlock ABI 6 (the kernel has none)');
  });

  test.skipIf(!isRoot || !isPublic())(
    'is not lower for a user who is not root (needs root to become one, and a checkout that others may read)',
    async () => {
      const { confinement } = await prepareJail(files);
      if (!confinement.ownUser) return;
      const { namespaces, powerless, landlock } = await openElsewhere({ uid: nobody });
      const root = await openElsewhere();
      expect({ namespaces, powerless, landlock }).toEqual({
        namespaces: confinement.namespaces,
        powerless: true,
        landlock: root.landlock as number,
      });
    },
  );

  test.skipIf(!isRoot || !canMount())(
    'is not lower in a private folder: each sidecar has its own user there (needs root that may mount)',
    async () => {
      const { confinement } = await prepareJail(files);
      const { status, ownUser, powerless, namespaces } = await openElsewhere(inPrivateFolder());
      expect({ status, ownUser, powerless, namespaces }).toEqual({
        status: 'succeeded',
        ownUser: confinement.ownUser || confinement.namespaces.includes('user'),
        powerless: true,
        namespaces: confinement.namespaces,
      });
    },
  );

  test.skipIf(!isRoot)(
    'names the files whose modes prevent root from giving sidecars their own user (needs root)',
    async () => {
      const closed = join(folder, "only root's");
      writeFileSync(closed, 'no program', { mode: 0o700 });
      const { confinement } = await prepareJail({ ...files, nodePath: closed });
      expect(confinement.ownUser).toBe(false);
      if (confinement.closedFiles.length === 0) return;
      const said: string[] = [];
      const log = (_level: string, message: string): void => void said.push(message);
      await expect(startSandbox({ nodePath: closed, log, clock: Date.now, jail: 'strict' })).rejects.toThrow(
        'The sandbox sidecar did not start',
      );
      expect(said[0]).toStartWith(
        'Sandbox sidecars run as root, because other users may not read their program files.',
      );
      expect(said[0]).toContain(`'${join(folder, String.raw`only root'\''s`)}'`);
    },
  );
});

test('full requires Landlock from ABI 6 on, seccomp, limits and no capability; missing secondary protections are named', () => {
  expect([levelOf(allOfIt), missingOf(allOfIt), absentOf(allOfIt)]).toEqual(['full', [], []]);
  for (const lack of [{ landlock: 5 }, { seccomp: false }, { rlimits: false }, { powerless: false }]) {
    const report = { ...allOfIt, ...lack };
    expect([levelOf(report), missingOf(report).length]).toEqual(['partial', 1]);
  }
  expect(levelOf({ ...allOfIt, landlock: 0, seccomp: false, rlimits: false })).toBe('off');
  const bare = { ...allOfIt, ownUser: false, namespaces: ['net'], controlGroup: false };
  expect(levelOf(bare)).toBe('full');
  expect(absentOf(bare)).toEqual([
    'a separate user',
    'a pid namespace',
    'a ipc namespace',
    'a uts namespace',
    'a control group',
  ]);
});

test('control groups are detected at their mount point, for version 2 only if they are delegated', () => {
  const delegated = join(folder, 'unified/service');
  Bun.spawnSync(['mkdir', '-p', join(delegated, 'core')]);
  for (const file of ['cgroup.procs', 'core/cgroup.procs']) writeFileSync(join(delegated, file), '');
  const mounts = `30 20 0:26 / ${folder}/unified rw,nosuid - cgroup2 cgroup2 rw`;
  const delegatedParents = (): string[] =>
    findHierarchies('0::/service/core', mounts).map(({ parent }) => parent);
  expect(delegatedParents()).toEqual([]);
  writeFileSync(join(delegated, 'cgroup.subtree_control'), 'cpu memory pids\n');
  expect(delegatedParents()).toEqual([delegated]);
  expect(findHierarchies('5:memory:/here', mounts)).toEqual([]);
});

test('both architectures allow the same calls, except those that only the older one has', () => {
  const [x64, arm64] = [syscallRules('x64', 1), syscallRules('arm64', 1)];
  const numbers = arm64?.allowed.map(({ number }) => number) ?? [];
  expect(new Set(numbers).size).toBe(numbers.length);
  expect((x64?.allowed.length ?? 0) - numbers.length).toBe(10);
  expect(syscallRules('riscv64', 1)).toBeUndefined();
});

test('a sandbox with a missing or broken Node does not start, and leaves nothing behind', async () => {
  const secret = join(folder, 'no-program');
  writeFileSync(secret, 'no program');
  const options = { log: () => undefined, clock: Date.now, jail: 'strict' } as const;
  await expect(startSandbox({ ...options, nodePath: '/nonexistent/node' })).rejects.toThrow(
    'Plugins need Node 24, but /nonexistent/node does not exist. Reinstall Tatami.',
  );
  await expect(startSandbox({ ...options, nodePath: secret })).rejects.toThrow(
    'The sandbox sidecar did not start',
  );
  await expect(startSandbox({ ...options, nodePath: secret, jail: 'off' })).rejects.toThrow(
    'The sandbox sidecar did not start',
  );
  expect(sidecarPids()).toEqual([]);
});

test('without the jail the permission flags still apply, and the level says so', async () => {
  const sandbox = await openSandbox({ jail: 'off' });
  const outcome = await sandbox.run(jobOf('ins_any', await pluginOf('await ctx.issues.get(1);')));
  const { jail } = sandbox.status();
  await sandbox.stop();
  expect({ jail, status: outcome.status }).toEqual({ jail: 'off', status: 'succeeded' });
});

test('the right Node is found among the dependencies', () => {
  expect(findNode()).toContain('node');
});
