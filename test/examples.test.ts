// Runs the examples concurrently, as they mostly wait, and on real issues if these are available beside the
// project.
import { expect, test } from 'bun:test';
import { parse } from 'csv-parse/sync';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launcher } from './program.ts';

const root = join(import.meta.dir, '..');
const realIssues = join(root, '../shared/data/nlbse24-train.csv');

async function run(...args: string[]): Promise<{ code: number; output: string }> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    env: { ...process.env, TATAMI_BIN: launcher },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, output: out + err };
}

test.concurrent(
  'the webhook receiver stores each event once, despite forgeries, replays and kills',
  async () => {
    const { code, output } = await run('examples/webhook-receiver/check.ts');
    expect(output).toContain('The receiver stored each event once.');
    expect(code).toBe(0);
  },
  120_000,
);

test.concurrent(
  'a third-party web app does only what people granted in a browser',
  async () => {
    const { code, output } = await run('examples/oauth-app/check.ts');
    expect(output).not.toContain('FAIL');
    expect(output).toContain('The app does only what was granted.');
    expect(code).toBe(0);
  },
  120_000,
);

test.concurrent(
  'an agent changes issues of others only after approval',
  async () => {
    const { code, output } = await run('examples/agent/check.ts');
    expect(output).not.toContain('FAIL');
    expect(output).toContain('The agent made only approved changes.');
    expect(code).toBe(0);
  },
  120_000,
);

/** All 1,500 in the long form, every sixtieth in the fast form. */
const every = process.env.TATAMI_LONG === '1' ? 1 : 60;
const hasReal = existsSync(realIssues);
/** Generated issues would repeat the same check, so real issues are used if available. */
const on = hasReal ? `${1_500 / every} real issues` : 'its sample';

/** Runs an example on the issues and returns its output. */
async function onIssues(example: string): Promise<{ code: number; output: string }> {
  if (!hasReal) return run(example);
  const [head, ...issues] = parse(readFileSync(realIssues, 'utf8')) as string[][];
  const chosen = issues.filter((_, at) => at % every === 0);
  const dir = mkdtempSync(join(tmpdir(), 'tatami-issues-'));
  const file = join(dir, 'issues.csv');
  const quoted = (cells: readonly string[]): string =>
    cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');
  writeFileSync(file, [head!, ...chosen].map(quoted).join('\n'));
  const ended = await run(example, file);
  rmSync(dir, { recursive: true });
  return ended;
}

test.concurrent(
  `the main job completes on ${on}`,
  async () => {
    const { code, output } = await onIssues('examples/main-job/main.ts');
    if (hasReal) expect(output).toContain(`ok   ${1_500 / every} issues imported`);
    expect(output).toContain('The main job is done.');
    expect(code).toBe(0);
  },
  300_000,
);

test.concurrent(
  `the time machine completes on ${on}`,
  async () => {
    const { code, output } = await onIssues('examples/time-machine/main.ts');
    expect(output).toContain('The time machine is done.');
    expect(output).not.toContain('FAIL');
    expect(code).toBe(0);
  },
  300_000,
);
