// The main job: import issues, train on them and triage new ones. TATAMI_LONG=1 repeats it with all cores
// busy and with slowed sidecars, and expects the same labels.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp, type Json, type TestApp } from './app.ts';
import { tatami } from './cli/tatami.ts';
import { makeIssues } from './generated-issues.ts';
import { sidecarPids } from './sandbox/harness.ts';
import { burnCores, slowDown } from './slow-machine.ts';

const isLong = process.env.TATAMI_LONG !== undefined;
const size = isLong
  ? { teams: 5, learn: 1_500, fresh: 1_500, seed: 1 }
  : { teams: 2, learn: 60, fresh: 20, seed: 1 };
const limitMs = isLong ? 3_600_000 : 180_000;
const knownLabels = ['bug', 'feature', 'question'];

const dir = mkdtempSync(join(tmpdir(), 'tatami-main-job-'));
const issues = makeIssues(size);
beforeAll(() => {
  writeFileSync(join(dir, 'learn.csv'), issues.learn);
  writeFileSync(join(dir, 'fresh.csv'), issues.fresh);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function every(app: TestApp, path: string): Promise<Json[]> {
  const all: Json[] = [];
  for (let after = ''; ;) {
    const { json } = await app.call('GET', `/api/v1${path}&limit=100${after}`);
    all.push(...json.data);
    if (!json.pageInfo.hasNextPage) return all;
    after = `&after=${encodeURIComponent(json.pageInfo.endCursor)}`;
  }
}

/** Waits for all runs, including retries. */
async function settled(app: TestApp): Promise<void> {
  for (let look = 0; look < 100; look++) {
    await app.settled();
    const { json } = await app.call('GET', '/api/v1/plugins/auto-triage/runs?status=retrying&limit=1');
    if (json.data.length === 0) return;
    app.clock.advance(60_000);
  }
}

/**
 * Runs the whole job under a load.
 * @returns `title: label` of each new issue, and the messages about the training
 */
async function mainJob(load: () => Disposable): Promise<{ labels: string[]; output: string }> {
  const app = await startApp();
  try {
    using _load = load();
    const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
    const run = async (...args: string[]) => {
      const ended = await tatami(args, remote);
      expect(ended).toMatchObject({ code: 0 });
      return ended;
    };
    await run('plugins', 'install', 'auto-triage', '--yes', '--no-probation');
    await app.call('PATCH', '/api/v1/plugins/auto-triage', { settings: { threshold: 0 } });
    await run('import', join(dir, 'learn.csv'), '--team-from', 'repo');
    await settled(app);
    const learnRun = await run('plugins', 'run-schedule', 'auto-triage', 'learn');
    await run('import', join(dir, 'fresh.csv'), '--team-from', 'repo', '--source', 'fresh');
    await settled(app);
    expect((await app.call('GET', '/api/v1/plugins/auto-triage')).json.state).toBe('active');
    expect(await every(app, '/plugins/auto-triage/runs?status=dead')).toEqual([]);
    const allIssues = await every(app, '/issues?fields=title,labels,number');
    expect(allIssues.length).toBe(size.learn + size.fresh);
    const perTeam = size.learn / size.teams;
    const labels = allIssues
      .filter(({ number }) => number > perTeam)
      .map(({ title, labels }) => `${title}: ${labels.map(({ name }: Json) => name).join()}`);
    return { labels: labels.sort(), output: learnRun.out };
  } finally {
    await app.stop();
  }
}

const unlabelled = (labels: readonly string[]): string[] =>
  labels.filter((one) => !knownLabels.includes(one.split(': ').at(-1) ?? ''));
const allTeams = `${size.teams} of ${size.teams} teams`;

const quiet = ['on an idle machine', () => ({ [Symbol.dispose]: () => undefined })] as const;
const busy = ['with every core busy', () => burnCores()] as const;
const slow = ['with the sidecars at a tenth of their speed', () => slowDown(sidecarPids, 0.1)] as const;
let expected: string[] | undefined;

// The other tests of a run already occupy every core, and test/sandbox/starved.test.ts slows the sidecars in
// every run.
for (const [name, load] of isLong ? [quiet, busy, slow] : [quiet])
  test(
    `${name}: all teams are trained, all issues labelled, with the same labels under every load`,
    async () => {
      const { labels, output } = await mainJob(load);
      expect(output).toContain(allTeams);
      expect([labels.length, unlabelled(labels)]).toEqual([size.fresh, []]);
      expect(labels).toEqual((expected ??= labels));
    },
    limitMs,
  );
