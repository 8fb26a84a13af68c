// The examples run and check themselves; the main job also on real issues where they lie beside the project.
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, '..');
const realIssues = join(root, '../shared/data/nlbse24-train.csv');

async function run(...args: string[]): Promise<{ code: number; output: string }> {
  const child = Bun.spawn([process.execPath, ...args], { cwd: root, stdout: 'pipe', stderr: 'pipe' });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, output: out + err };
}

test('the main job on its sample', async () => {
  const { code, output } = await run('examples/main-job/main.ts');
  expect(output).toContain('The main job is done.');
  expect(code).toBe(0);
}, 120_000);

test('the webhook receiver takes in each event once, through forgeries, replays and kills', async () => {
  const { code, output } = await run('examples/webhook-receiver/check.ts');
  expect(output).toContain('The receiver took in each event once.');
  expect(code).toBe(0);
}, 120_000);

test.skipIf(!existsSync(realIssues))(
  'the main job on 1,500 real issues (skips where shared/data is not beside the project)',
  async () => {
    const { code, output } = await run('examples/main-job/main.ts', realIssues);
    expect(output).toContain('ok   1500 issues imported');
    expect(output).toContain('The main job is done.');
    expect(code).toBe(0);
  },
  300_000,
);
