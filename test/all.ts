// Runs every test for `npm test`: four files at a time, then two at a time those in `idle`, and then, sequentially, those in
// `alone`. Arguments are passed to `bun test`; `--every` also runs the suites that `documentation.ts` would skip.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDocumentation } from './documentation.ts';
import { inMemory } from './memory-disk.ts';
import { bundleVariable, cheaper, openBundle } from './program.ts';

const root = join(import.meta.dir, '..');

/** Twice the usual two cores, because tests wait for processes, disks and timers about half of their time. */
const parallelism = 4;

/** Files that measure wall-clock latency under load. */
const alone = ['test/fairness/{flood,kv-flood,requests}.test.ts'];

/** Files that need a CPU that is sometimes idle, as the sidecar of quarantined plugins does. They mostly wait. */
const idle = [
  'test/features/plugins/{attacks,backfill,interrupted}.test.ts',
  'test/sandbox/{long-stretch,quarantine,starved}.test.ts',
  'test/sandbox/hostile-sidecar/native.test.ts',
];

/**
 * Durations in seconds of the longest files. They start first, so that none of them runs alone at the end on
 * one core.
 */
const longest: Readonly<Record<string, number>> = {
  'test/examples.test.ts': 121,
  'test/sandbox/attacks.test.ts': 92,
  'test/dashboard/app.test.ts': 63,
  'test/first-hour.test.ts': 54,
  'test/project.test.ts': 33,
  'test/faults/run-states.test.ts': 29,
  'test/cli/hostile-folder.test.ts': 28,
  'test/faults/unforeseen.test.ts': 28,
  'test/upgrade/upgrade.test.ts': 26,
  'test/docs-plugins.test.ts': 26,
  'test/cli/rules.test.ts': 26,
  'test/faults/copy-kill.test.ts': 26,
  'test/fairness/runs.test.ts': 25,
  'test/binary/executable.test.ts': 25,
  'test/sdk/package.test.ts': 25,
  'test/sandbox/faults.test.ts': 23,
  'test/sandbox/hostile-sidecar/peer.test.ts': 22,
  'test/contributing.test.ts': 22,
  'test/docs-automations.test.ts': 22,
  'test/faults/restore.test.ts': 22,
  'test/faults/stopping.test.ts': 20,
  'test/cli/serve.test.ts': 20,
  'test/faults/retention.test.ts': 20,
  'test/faults/year.test.ts': 20,
  'test/sandbox/main-thread.test.ts': 19,
  'test/cli/plugin-decisions.test.ts': 19,
  'test/cli/plugin-packing.test.ts': 18,
  'test/cli/operations/lost-connection.test.ts': 17,
  'test/api/adapters.test.ts': 17,
  'test/cli/start-bundle.test.ts': 16,
  'test/features/webhooks/bad-receivers.test.ts': 16,
  'test/cli/plugin-author.test.ts': 16,
  'test/features/triage/public.test.ts': 14,
  'test/docs-page.test.ts': 14,
  'test/features/automations/templates.test.ts': 14,
  'test/features/automations/templates-together.test.ts': 14,
  'test/dashboard/automations.test.ts': 12,
  'test/api/sockets.test.ts': 13,
  'test/features/plugins/recorder.test.ts': 12,
  'test/faults/kill.test.ts': 12,
  'test/sandbox/late-calls.test.ts': 12,
  'test/attacks/every-way.test.ts': 12,
  'test/faults/directory.test.ts': 12,
  'test/cli/keys.test.ts': 11,
  'test/cli/plugin.test.ts': 11,
  'test/month/month.test.ts': 11,
  'test/faults/crash-states.test.ts': 11,
  'test/faults/faketime.test.ts': 11,
  'test/api/fuzz.test.ts': 11,
  'test/features/webhooks/backlog.test.ts': 11,
  'test/features/agents/outsiders.test.ts': 11,
  'test/faults/doctor.test.ts': 10,
  'test/sandbox/split.test.ts': 10,
  'test/features/sign-in/every-page.test.ts': 9,
  'core/platform/store/migrate.test.ts': 9,
  'test/features/sign-in/sign-in.test.ts': 9,
  'test/faults/store.test.ts': 9,
  'test/cli/exchange.test.ts': 9,
  'test/features/plugins/runtime.test.ts': 9,
  'test/cli/import.test.ts': 9,
  'test/api/openapi.test.ts': 9,
  'test/faults/tenants.test.ts': 8,
  'test/cli/owner.test.ts': 8,
  'test/faults/doctor-random.test.ts': 8,
  'test/cli/terminal.test.ts': 8,
  'test/faults/master-key.test.ts': 8,
  'test/api/foreign-ids.test.ts': 8,
  'test/cli/login-file.test.ts': 7,
  'test/cli/plugin-dev.test.ts': 7,
  'test/cli/members.test.ts': 7,
  'test/cli/backup.test.ts': 7,
  'test/faults/plugin-kill.test.ts': 7,
  'test/features/sign-in/factors-pages.test.ts': 7,
  'test/faults/orphans.test.ts': 7,
  'test/features/oauth/browser.test.ts': 7,
  'test/guides.test.ts': 7,
  'test/cli/operations/complete.test.ts': 7,
  'test/fairness/deliveries.test.ts': 6,
  'test/features/sign-in/outside.test.ts': 6,
  'test/api/document.test.ts': 6,
  'test/cli/operations/input.test.ts': 6,
  'test/cli/webhooks.test.ts': 6,
  'test/sandbox/pack.test.ts': 6,
};

/** Writes the durations of all files in the format of Bun. @returns the path of a file */
function writeTimings(folder: string): string {
  const files = [...new Bun.Glob('{core,sdk,plugins,examples,test}/**/*.test.ts').scanSync(root)].toSorted();
  const path = join(folder, 'timings.json');
  const timings = files.map((file) => [file, (longest[file] ?? 1) * 1_000]);
  writeFileSync(path, JSON.stringify({ version: 1, files: Object.fromEntries(timings) }));
  return path;
}

/** @returns true if every test passed */
async function bunTest(args: readonly string[], start: Start = {}): Promise<boolean> {
  const { under = [], env = {} } = start;
  const { exited } = Bun.spawn([...under, process.execPath, 'test', '--timeout', '120000', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return (await exited) === 0;
}

interface Start {
  /** The command in front of `bun test`. */
  readonly under?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const every = '--every';
const requestedFiles = process.argv.slice(2).filter((argument) => argument !== every);
if (requestedFiles.length > 0) process.exit((await bunTest(requestedFiles)) ? 0 : 1);

/**
 * The timings have a separate folder, because the in-memory file system hides the other one from this
 * process.
 */
const [timings, temporary] = ['timings', 'files'].map((name) =>
  mkdtempSync(join(tmpdir(), `tatami-${name}-`)),
) as [string, string];
process.on('exit', () => [timings, temporary].forEach((path) => rmSync(path, { recursive: true })));
const start = { under: inMemory(temporary), env: { [bundleVariable]: await openBundle() } };
const documentation = openDocumentation(process.argv.includes(every) || Boolean(process.env.CI));
for (const suite of documentation.skipped)
  console.log(
    `${suite} is skipped: its inputs have not changed since it passed (run it with npm test -- ${every})`,
  );

// Without isolation a worker imports modules once, because repeated imports would cost as much as many test
// files.
const together = [
  ...[`--parallel=${parallelism}`, '--no-isolate', `--timings=${writeTimings(timings)}`],
  ...[...alone, ...idle, ...documentation.skipped].map((path) => `--path-ignore-patterns=${path}`),
];
const filesOf = (paths: readonly string[]): string[] =>
  paths.flatMap((path) => [...new Bun.Glob(path).scanSync(root)].toSorted()).map((file) => `./${file}`);
const results = [
  await bunTest(together, { ...start, env: { ...start.env, ...cheaper } }),
  await bunTest(['--parallel=2', ...filesOf(idle)], start),
  await bunTest(filesOf(alone), start),
];
if (results.every(Boolean)) documentation.notePassed();
process.exit(results.every(Boolean) ? 0 : 1);
