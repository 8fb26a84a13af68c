// Every test, for `npm test`: three files at a time, and then, one after the other, those that want the machine to themselves. With
// arguments it is `bun test` with these.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleProgram, bundleVariable } from './program.ts';

const root = join(import.meta.dir, '..');

/** One more than the usual cores: files wait for processes, disks and timers about a third of their time. */
const lanes = 3;

/** They measure what somebody feels beside a flood or an attack, or keep every core busy. */
const alone = [
  'test/main-job.test.ts',
  'test/fairness/{answers,bodies,flood,kv,reads,streams,subscriptions}.test.ts',
  'test/sandbox/attacks.test.ts',
  'test/sandbox/starved.test.ts',
];

/** They take so many seconds, the others less: begun last, one of them would keep one core waiting for the other. */
const longest: Readonly<Record<string, number>> = {
  'test/examples.test.ts': 60,
  'test/upgrade/upgrade.test.ts': 45,
  'test/first-hour.test.ts': 40,
  'test/docs-plugins.test.ts': 40,
  'test/cli/plugin-author.test.ts': 27,
  'test/fairness/runs.test.ts': 24,
  'test/cli/keys.test.ts': 21,
  'test/faults/first-start.test.ts': 21,
  'test/api/fuzz.test.ts': 21,
  'test/binary/executable.test.ts': 21,
  'test/api/entrances.test.ts': 20,
  'test/plugins/attacks.test.ts': 20,
  'test/sdk/package.test.ts': 20,
  'test/faults/directory.test.ts': 20,
  'test/faults/kill.test.ts': 19,
  'test/contributing.test.ts': 18,
  'test/month/month.test.ts': 18,
  'test/faults/unforeseen.test.ts': 17,
  'test/faults/copy-kill.test.ts': 17,
  'test/faults/tenants.test.ts': 17,
  'test/faults/restore.test.ts': 17,
  'test/sandbox/faults.test.ts': 17,
  'test/plugins/recorder.test.ts': 17,
  'test/cli/plugin.test.ts': 17,
  'test/sandbox/hostile-sidecar/peer.test.ts': 17,
  'test/faults/clock.test.ts': 16,
  'test/webhooks/bad-receivers.test.ts': 16,
  'test/plugins/schedules.test.ts': 16,
  'test/api/sockets.test.ts': 15,
  'test/plugins/catch-up.test.ts': 15,
  'test/webhooks/outage.test.ts': 15,
  'test/tracker/public-triage.test.ts': 15,
  'test/cli/backup.test.ts': 15,
  'test/faults/lock-held.test.ts': 15,
  'test/faults/master-key.test.ts': 15,
};

/** Of every file, as Bun wants it. @returns the path of a file */
function writeTimings(folder: string): string {
  const files = [...new Bun.Glob('{core,sdk,plugins,examples,test}/**/*.test.ts').scanSync(root)].toSorted();
  const path = join(folder, 'timings.json');
  const timings = files.map((file) => [file, (longest[file] ?? 1) * 1_000]);
  writeFileSync(path, JSON.stringify({ version: 1, files: Object.fromEntries(timings) }));
  return path;
}

/** @returns whether every test passed */
async function bunTest(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const { exited } = Bun.spawn([process.execPath, 'test', '--timeout', '60000', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return (await exited) === 0;
}

const named = process.argv.slice(2);
if (named.length > 0) process.exit((await bunTest(named)) ? 0 : 1);

// What is imported stays for the next file of a worker: to import it anew for each would cost as much as many of them.
const folder = mkdtempSync(join(tmpdir(), 'tatami-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
await bundleProgram(folder);
const env = { [bundleVariable]: folder };
const together = [
  ...[`--parallel=${lanes}`, '--no-isolate', `--timings=${writeTimings(folder)}`],
  ...alone.map((path) => `--path-ignore-patterns=${path}`),
];
const apart = alone.flatMap((path) => [...new Bun.Glob(path).scanSync(root)].toSorted());
const results = [
  await bunTest(together, env),
  await bunTest(
    apart.map((file) => `./${file}`),
    env,
  ),
];
process.exit(results.every(Boolean) ? 0 : 1);
