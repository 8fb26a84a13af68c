/**
 * The jail holds for native code, not only for JavaScript: Perl, making system calls itself, is put where the sidecar would be and
 * tries what an escaped plugin would. What must be refused follows from the level that the kernel allows.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JailOrder } from '../../core/sandbox/jail/entry.ts';
import { levelOf } from '../../core/sandbox/jail/level.ts';
import type { JailReport } from '../../core/sandbox/protocol.ts';
import { startSandbox } from '../../core/sandbox/supervisor.ts';
import { findNode } from '../../core/sandbox/locate.ts';
import { jobOf, openSandbox, pluginOf, sidecarPids } from './harness.ts';

const perl = Bun.which('perl');
const ENTRY = join(import.meta.dir, '../../core/sandbox/jail/entry.ts');

/** Each prints `name yes|no errno`. Numbers are x86-64's. */
const PROBES = String.raw`
use strict; use Socket; $| = 1;
my ($secret, $corePid, $report) = @ARGV;
print "report $report\n";
sub probe { my ($name, $works) = @_; local $! = 0; my $did = eval { $works->() }; print "$name ", ($did ? 'yes' : 'no'), ' ', ($!+0), "\n"; }
probe('read a file', sub { open(my $f, '<', $secret) });
probe('list a folder', sub { opendir(my $d, '/') });
probe('write a file', sub { open(my $f, '>', "$secret.written") });
probe('environment of the core', sub { open(my $f, '<', "/proc/$corePid/environ") });
probe('memory of the core', sub { open(my $f, '+<', "/proc/$corePid/mem") });
probe('connect', sub { my $s; socket($s, PF_INET, SOCK_STREAM, 0) and connect($s, sockaddr_in(80, inet_aton('127.0.0.1'))) });
probe('unix socket', sub { socket(my $s, PF_UNIX, SOCK_STREAM, 0) });
probe('fork', sub { my $p = fork(); if (defined $p && $p == 0) { exit 0 } defined $p });
probe('clone a process', sub { my $p = syscall(56, 17, 0, 0, 0, 0); if ($p == 0) { exit 0 } $p > 0 });
probe('ptrace the core', sub { syscall(101, 16, $corePid, 0, 0) == 0 });
probe('read memory of the core', sub { my $b = "\0" x 16; my $v = pack('QQ', unpack('Q', pack('P', $b)), 16); syscall(310, $corePid, $v, 1, $v, 1, 0) > 0 });
probe('signal the core', sub { kill(0, $corePid) });
probe('unshare', sub { syscall(272, 0x10000000) == 0 });
probe('bpf', sub { syscall(321, 0, 0, 0) >= 0 });
probe('io_uring', sub { my $b = "\0" x 120; syscall(425, 1, $b) >= 0 });
probe('exec a shell', sub { exec('/bin/sh', '-c', 'echo "exec a shell yes 0"') });
`;

/** What a part of the jail is there to refuse. */
const BY_LANDLOCK = [
  'read a file',
  'list a folder',
  'write a file',
  'environment of the core',
  'memory of the core',
  'exec a shell',
];
const BY_SECCOMP = [
  'connect',
  'unix socket',
  'fork',
  'clone a process',
  'ptrace the core',
  'read memory of the core',
  'signal the core',
  'unshare',
  'bpf',
  'io_uring',
];

/** The kernel refuses a rule for a path of this kind, as an old kernel refuses them all. */
const NO_LANDLOCK = '/proc/self/ns/net';

let folder: string;
let secret: string;
/** Stands for the core: this process has closed itself to others of its user where a sandbox has begun in it. */
let core: Bun.Subprocess;

beforeAll(() => {
  core = Bun.spawn(['sleep', '600']);
  folder = mkdtempSync(join(tmpdir(), 'tatami-jail-'));
  secret = join(folder, 'secret');
  writeFileSync(secret, 'a secret');
  chmodSync(secret, 0o644);
});

afterAll(() => {
  core.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function probe(
  jailed: boolean,
  alsoReadable: string[] = [],
): Promise<{ results: Map<string, boolean>; report: JailReport | undefined }> {
  const command = [perl ?? '', '-e', PROBES, secret, String(core.pid), '{jail}'];
  const order: JailOrder = {
    command,
    readable: ['/usr/share/perl', '/usr/share/perl5', '/etc/perl', '/usr/local/share/perl', ...alsoReadable],
    strict: false,
  };
  const argv = jailed ? [process.execPath, ENTRY, JSON.stringify(order)] : command;
  const child = Bun.spawn(argv, { stdout: 'pipe', stderr: 'inherit', env: {} });
  const lines = (await new Response(child.stdout).text()).trim().split('\n');
  const results = new Map<string, boolean>();
  for (const line of lines) {
    const found = /^(.*) (yes|no) \d+$/.exec(line);
    if (found) results.set(found[1] as string, found[2] === 'yes');
  }
  const report = lines[0]?.startsWith('report {"')
    ? (JSON.parse(lines[0].slice(7)) as JailReport)
    : undefined;
  return { results, report };
}

const onLinux = process.platform === 'linux' && process.arch === 'x64' && perl !== null;

describe.skipIf(!onLinux)('native code in the jail (needs perl on x86-64 Linux)', () => {
  test('is refused what its level refuses, and none of it is refused outside', async () => {
    const free = await probe(false);
    for (const name of [
      'read a file',
      'list a folder',
      'environment of the core',
      'fork',
      'signal the core',
      'exec a shell',
    ]) {
      expect([name, free.results.get(name)]).toEqual([name, true]);
    }
    const { results, report } = await probe(true);
    expect(report).toBeDefined();
    const refused = [
      ...((report?.landlock ?? 0) > 0 ? BY_LANDLOCK : []),
      ...(report?.seccomp ? BY_SECCOMP : []),
    ];
    for (const name of refused) expect([name, results.get(name) ?? false]).toEqual([name, false]);
  });

  test('the level a sandbox reports is the one its sidecar got, and it is logged', async () => {
    const { report } = await probe(true);
    const sandbox = await openSandbox();
    const level = sandbox.status().jail;
    await sandbox.stop();
    expect(level).toBe(levelOf(report as JailReport));
    expect(sandbox.logged.map(({ message }) => message)).toContain(`The sandbox jail is ${level}.`);
  });

  test('what the kernel lacks is missing from the report, and the rest still holds', async () => {
    const { results, report } = await probe(true, [NO_LANDLOCK]);
    expect(report?.landlock).toBe(0);
    expect(levelOf(report as JailReport)).toBe('partial');
    for (const name of report?.seccomp ? BY_SECCOMP : [])
      expect([name, results.get(name) ?? false]).toEqual([name, false]);
  });

  test('a strict jail that cannot be had refuses to start, saying why', async () => {
    const order: JailOrder = {
      command: [perl ?? '', '-e', '0', '{jail}'],
      readable: [NO_LANDLOCK],
      strict: true,
    };
    const child = Bun.spawn([process.execPath, ENTRY, JSON.stringify(order)], { stderr: 'pipe', env: {} });
    const said = await new Response(child.stderr).text();
    expect(await child.exited).toBe(90);
    expect(said).toContain('A strict jail needs Landlock, seccomp and resource limits');
  });
});

test('a sandbox whose Node is missing or does not run does not start, and leaves nothing behind', async () => {
  const options = { log: () => undefined, clock: Date.now, jail: 'strict' } as const;
  await expect(startSandbox({ ...options, nodePath: '/nonexistent/node' })).rejects.toThrow(
    'There is no Node at /nonexistent/node',
  );
  await expect(startSandbox({ ...options, nodePath: secret })).rejects.toThrow(
    'The sandbox sidecar did not start',
  );
  await expect(startSandbox({ ...options, nodePath: secret, jail: 'off' })).rejects.toThrow(
    'The sandbox sidecar did not start',
  );
  expect(sidecarPids()).toEqual([]);
});

test('without the jail the permission flags still stand, and the level says so', async () => {
  const sandbox = await openSandbox({ jail: 'off' });
  const outcome = await sandbox.run(jobOf('ins_any', await pluginOf('await ctx.issues.get(1);')));
  const { jail } = sandbox.status();
  await sandbox.stop();
  expect({ jail, status: outcome.status }).toEqual({ jail: 'off', status: 'succeeded' });
});

test('the right Node is found among the dependencies', () => {
  expect(findNode()).toContain('node');
});
