// Runs tests on another date: `bun test/far-dates.ts`, with the usage below. Needs libfaketime.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeTimeEnv, fakeTimeLibrary } from './faults/faketime.ts';
import { inMemory } from './memory-disk.ts';
import { bundleVariable, cheaper, openBundle } from './program.ts';

const root = join(import.meta.dir, '..');
const days = (count: number): number => Date.now() + count * 86_400_000;

interface Day {
  readonly startMs: number;
  readonly timeZone: string;
}

/** Summer time starts half a minute into the run. Without its own time zone `bun test` runs in UTC. */
const calendar: Readonly<Record<string, Day>> = {
  'in-a-day': { startMs: days(1), timeZone: 'Asia/Kolkata' },
  'in-40-days': { startMs: days(40), timeZone: 'Pacific/Auckland' },
  'in-a-year': { startMs: days(365), timeZone: 'UTC' },
  'leap-day': { startMs: Date.parse('2028-02-29T12:00:00Z'), timeZone: 'Europe/Berlin' },
  'summer-time-berlin': { startMs: Date.parse('2028-03-26T00:59:30Z'), timeZone: 'Europe/Berlin' },
  'summer-time-new-york': { startMs: Date.parse('2028-03-12T06:59:30Z'), timeZone: 'America/New_York' },
};

/** Matches sources that read the system clock, or start a process that does. */
const touchesTime =
  /\bDate\.now\b|\bnew Date\(|\bcreateSystemClock\b|\bspawn|\bstartServer\b|\btatami\(|\bcron\b/;
/**
 * Long tests about load, files, terminals, documents or sources, or with an injected clock. Shorter tests
 * cover the same date logic.
 */
const left: readonly string[] = [
  'test/{examples,project,contributing,main-job,first-hour,guides,docs-page,docs-plugins}',
  'test/{month,sdk,clients,fairness,sandbox,rights,upgrade,binary}/**/*',
  'test/features/{issues/as-of,cycles/cycles,cycles/progress,attachments/attachments,attachments/backup}',
  'test/features/{triage/public,boards/moves}',
  'test/features/plugins/{attacks,runtime,schedules}',
  'test/features/webhooks/{bad-receivers,guards,backlog,off,crash,outage,replays}',
  'test/cli/{exchange,import,import-formats,hostile-folder,plugin-author,backup,terminal,clean-start,serve,init,keys}',
  'test/faults/{kill,doctor,plugin-kill,first-start,orphans,lock-held,disk,store,unforeseen,copy,copy-kill}',
  'test/faults/{directory,damage,restore,subscriptions,retention,archive,stopping,master-key,year,faketime}',
  'test/api/stream',
  'core/platform/{store,sandbox}/**/*',
];

/**
 * The tests of days, time zones, expiry, and of processes that read the system clock. The others inject a
 * clock, so a far date adds little. `.ci/run` runs this part; all of them run before a release.
 */
const deciding: readonly string[] = [
  'core/platform/{backup,lib}/**/*',
  'core/features/webhooks/signature',
  'test/api/filter-meaning',
  'test/features/{milestones,projects,releases}',
  'test/features/{api-keys/api-keys,api-keys/ends,inbox/alerts,inbox/inbox,inbox/notifications}',
  'test/features/{issues/imported,issues/trash,sign-in/outside,sign-in/outside-tokens}',
  'test/features/{sla/sla,sla/policies,triage/triage,webhooks/vectors,webhooks/verifiers}',
];

/** @throws Error if one of the patterns matches no test, because a moved test would no longer run */
function matching(patterns: readonly string[]): ReadonlySet<string> {
  return new Set(
    patterns.flatMap(alternatives).flatMap((pattern) => {
      const files = [...new Bun.Glob(`${pattern}.test.ts`).scanSync(root)];
      if (files.length === 0) throw new Error(`${pattern} matches no test. Correct it in test/far-dates.ts.`);
      return files;
    }),
  );
}

/** Expands the braces of a pattern. */
function alternatives(pattern: string): string[] {
  const [, before = '', inside = '', after = ''] = /^(.*?)\{(.*?)\}(.*)$/.exec(pattern) ?? [];
  return inside === '' ? [pattern] : inside.split(',').map((one) => before + one + after);
}

function filesThatTouchTime(): string[] {
  const [omitted, short] = [matching(left), matching(deciding)];
  return [...new Bun.Glob('{core,sdk,plugins,test}/**/*.test.ts').scanSync(root)]
    .filter((file) => !omitted.has(file))
    .filter((file) => touchesTime.test(readFileSync(join(root, file), 'utf8')))
    .filter((file) => !flags.has('--short') || short.has(file))
    .map((file) => `./${file}`)
    .toSorted();
}

/** @returns the exit code of `bun test` */
async function runOn(name: string, { startMs, timeZone }: Day, files: readonly string[]): Promise<number> {
  const offsetSeconds = Math.round((startMs - Date.now()) / 1000);
  console.log(`\n${name}: ${new Date(startMs).toISOString()}, ${timeZone}`);
  // These tests measure no latency under load, so three run at a time.
  const { exited } = Bun.spawn(
    [
      ...inMemory(temporary),
      ...[process.execPath, 'test', '--timeout', '60000', '--parallel=3', '--no-isolate', ...files],
    ],
    {
      cwd: root,
      env: {
        ...{ ...process.env, [bundleVariable]: bundle, ...cheaper },
        ...{ ...fakeTimeEnv(offsetSeconds), TZ: timeZone },
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  return exited;
}

const flags = new Set<string>(
  process.argv.filter((argument) => argument === '--all' || argument === '--short'),
);
const requestedDays = process.argv.slice(2).filter((argument) => !flags.has(argument));
const unknown = requestedDays.filter((name) => !(name in calendar));
if (unknown.length > 0) {
  console.error(`Usage: bun test/far-dates.ts [--all|--short] [${Object.keys(calendar).join('|')}]…
The tests that touch time, --all tests, or the --short part that decides on dates, on the days named, or on each.`);
  process.exit(2);
}
if (fakeTimeLibrary === null) {
  console.log(
    'The tests on far dates are skipped: they need libfaketime (Debian: apt-get install faketime).',
  );
  process.exit(0);
}
const bundle = await openBundle();
const temporary = mkdtempSync(join(tmpdir(), 'tatami-files-'));
process.on('exit', () => rmSync(temporary, { recursive: true }));
const files = flags.has('--all') ? [] : filesThatTouchTime();
for (const [name, day] of Object.entries(calendar))
  if (requestedDays.length === 0 || requestedDays.includes(name))
    if ((await runOn(name, day, files)) !== 0) process.exitCode = 1;
