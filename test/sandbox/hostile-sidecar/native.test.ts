// Native code in place of the sidecar, in its real process setup: the jail denies access to other processes, files, the
// network, rare system calls and other code, and limits its resources. The same program succeeds outside the jail, so
// that a refusal is meaningful.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSidecar, type SidecarProcess } from '../../../core/platform/sandbox/fleet/process.ts';
import { noConfinement, prepareJail, type JailMeans } from '../../../core/platform/sandbox/jail/prepare.ts';
import type { JailReport } from '../../../core/platform/sandbox/jail/level.ts';
import { levelOf } from '../../../core/platform/sandbox/jail/level.ts';
import { startSandbox } from '../../../core/platform/sandbox/supervisor.ts';
import { until } from '../harness.ts';

const compiler = Bun.which('cc');

/** A sidecar needs these; every other attempt of the probe is an attack. */
const harmless = ['pipe', 'a thread', 'memory'];
/** Attempts that only Landlock refuses. */
const fileAttacks = [
  'read a file',
  'read /etc/passwd',
  'list a folder',
  'environment of a process',
  'memory of a process by file',
];

let folder: string;
let probe: string;
let secret: string;
let victim: Bun.Subprocess;
let means: JailMeans;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tatami-hostile-'));
  chmodSync(folder, 0o755);
  probe = join(folder, 'probe');
  secret = join(folder, 'secret');
  writeFileSync(secret, 'a secret');
  if (compiler === null) return;
  const compiled = Bun.spawnSync(
    [compiler, '-O1', '-pthread', '-o', probe, join(import.meta.dir, 'probe.c')],
    {
      stderr: 'inherit',
    },
  );
  expect(compiled.exitCode).toBe(0);
  victim = Bun.spawn(['sleep', '1000']);
  means = await prepareJail({ nodePath: probe, addonPath: probe });
});

afterAll(() => {
  victim?.kill();
  rmSync(folder, { recursive: true, force: true });
});

interface ProbeOutcome {
  worked: string[];
  refused: string[];
  text: string;
  report: JailReport | undefined;
  why: string;
}

function parseOutcome(text: string): Pick<ProbeOutcome, 'worked' | 'refused'> {
  const lines = [...text.matchAll(/^(.*) (yes|no) \d+$/gm)];
  const those = (word: string): string[] =>
    lines.filter((line) => line[2] === word).map((line) => line[1] as string);
  return { worked: those('yes'), refused: those('no') };
}

/** Runs the probe in place of Node. */
function spawnProbe(
  mode: string,
  using: JailMeans,
  on: { stderr(text: string): void; gone?(why: string): void },
): SidecarProcess {
  return spawnSidecar({
    idle: false,
    nodePath: probe,
    addonPath: probe,
    programs: { sidecar: `${mode} ${secret} ${victim.pid}`, guest: '' },
    jail: 'auto',
    ...using,
    isolatesMax: 1,
    idleMs: 1000,
    inlineAfter: 32,
    busy: () => false,
    onMessage: () => undefined,
    onStderr: on.stderr,
    onGone: (why) => on.gone?.(why),
  });
}

/** Output of the probe and the messages sent to it until its end. */
async function jailed(mode: string, using: JailMeans): Promise<ProbeOutcome> {
  let text = '';
  let report: JailReport | undefined;
  const why = await new Promise<string>((gone) => {
    const sidecar = spawnProbe(mode, using, { stderr: (part) => (text += part), gone });
    void sidecar.ready.then((jailReport) => {
      report = jailReport;
      sidecar.evict('go');
    });
  });
  await Bun.sleep(20);
  return { ...parseOutcome(text), text, report, why };
}

describe.skipIf(process.platform !== 'linux' || compiler === null)(
  'native code in the jail (needs cc on Linux)',
  () => {
    test('all attempts succeed outside', async () => {
      const sacrifice = Bun.spawn(['sleep', '1000']);
      const copy = join(folder, 'copy');
      writeFileSync(copy, 'a copy');
      const free = Bun.spawn([probe], { stdin: new Blob([`free ${copy} ${sacrifice.pid}`]), stderr: 'pipe' });
      const { worked } = parseOutcome(await new Response(free.stderr).text());
      sacrifice.kill();
      for (const attack of [
        ...fileAttacks,
        'limit a process',
        'schedule a process',
        'disk priority of a process',
        'own signals of a descriptor',
        'choose the signal of a descriptor',
        'outlive the core',
        'fork',
        'internet socket',
        'writable code',
        'data made code',
      ])
        expect(worked).toContain(attack);
    });

    test('attempts beyond its work are refused, with and without a separate user and namespaces', async () => {
      const bare = { ...means, confinement: { ...noConfinement, powerless: true } };
      for (const using of [means, bare]) {
        const { worked, refused, text, report } = await jailed('all', using);
        expect(text).toContain('done');
        expect(report?.seccomp).toBe(true);
        const allowed = report?.landlock ? harmless : [...harmless, ...fileAttacks];
        expect(worked.filter((name) => !allowed.includes(name))).toEqual([]);
        expect(refused.length).toBeGreaterThan(60);
        expect(report?.powerless).toBe(true);
      }
      expect(victim.killed).toBe(false);
    });

    test('a system call of another instruction set ends the process', async () => {
      const { text } = await jailed('int80', means);
      expect(text).not.toContain('yes');
    });

    test('a report reflects the kernel state, and determines the level', async () => {
      const { report } = await jailed('all', means);
      expect(report?.namespaces).toEqual(means.confinement.namespaces);
      expect(levelOf({ ...(report as JailReport), landlock: 5 })).toBe('partial');
      expect(levelOf({ ...(report as JailReport), powerless: false })).toBe('partial');
    });
  },
);

/** Reason of a sandbox for replacing its first sidecar, which exhausts a resource as soon as it runs. */
async function replacedFor(mode: string, wanted: RegExp): Promise<string> {
  const said: string[] = [];
  const sandbox = await startSandbox({
    nodePath: probe,
    jail: 'auto',
    clock: () => 0,
    log: (_level, message, fields) => void said.push(`${message} ${JSON.stringify(fields)}`),
    programs: { sidecar: `${mode} ${secret} ${victim.pid}`, guest: '' },
  });
  sandbox.evict('go');
  try {
    const matchingLine = (): string | undefined => said.find((line) => wanted.test(line));
    await until(`the sandbox says ${String(wanted)}`, () => matchingLine() !== undefined);
    return matchingLine() as string;
  } finally {
    await sandbox.stop();
  }
}

describe.skipIf(process.platform !== 'linux' || compiler === null)(
  'the resources of native code are limited (needs cc on Linux)',
  () => {
    test('threads', async () => {
      if (means.confinement.namespaces.includes('user') || means.confinement.ownUser) {
        const sidecar = await exhausted('threads', means);
        expect(Number(/threads (\d+)/.exec(sidecar)?.[1])).toBeLessThan(400);
      }
    });

    test('page tables', async () => {
      expect(await replacedFor('tables', /page tables took|signal/)).toMatch(/MB|signal/);
    });

    test('shared memory', async () => {
      const why = /"why":"[^"]*(memory use was \d+ MB|idle with high memory use|control group)/;
      expect(await replacedFor('shared', why)).toMatch(why);
    });

    test('no control group remains', () => {
      for (const { parent } of means.hierarchies)
        expect(
          readdirSync(parent).filter((name) => name.startsWith(`tatami-sidecar-${process.pid}-`)),
        ).toEqual([]);
    });
  },
);

async function exhausted(mode: string, using: JailMeans): Promise<string> {
  let text = '';
  const sidecar = spawnProbe(mode, using, { stderr: (part) => (text += part) });
  await sidecar.ready;
  sidecar.evict('go');
  await until('the resources are exhausted', () => text.includes(mode));
  sidecar.kill('the test is over');
  await sidecar.exited;
  return text;
}
