import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp, type Json } from '../../app.ts';
import { everything } from '../../faults/oracle.ts';
import { handedOver } from '../../faults/own-copy.ts';
import { clientOf, seededRandom, startServer } from '../../faults/server.ts';

const v1 = '/api/v1';
const kills = 20;
const issuesEach = 2_000;
const hourMs = 3_600_000;

test.skipIf(!process.env.TATAMI_LONG)(
  `killed ${kills} times, the server moves ${issuesEach} issues over two cycles once`,
  async () => {
    const sourceDir = mkdtempSync(join(tmpdir(), 'tatami-cycles-kill-'));
    const app = await startApp({ dataDir: sourceDir, clock: createSystemClock() });
    const key = app.workspace.apiKey;
    const at = (hours: number): string => new Date(Date.now() + hours * hourMs).toISOString();
    const cycles: Json[] = [];
    for (const from of [0, 1, 2]) {
      const body = { team: 'ENG', startsAt: at(from * 100 + 1), endsAt: at(from * 100 + 101) };
      cycles.push((await app.call('POST', `${v1}/cycles`, body)).json);
    }
    const [first, second, third] = cycles.map(({ id }) => String(id)) as [string, string, string];
    for (let filed = 0; filed < issuesEach; filed += 100)
      await app.call('POST', `${v1}/issues/bulk`, {
        issues: Array.from({ length: 100 }, () => ({ team: 'ENG', title: 'Work', cycleId: first })),
      });
    await app.stop();
    const dir = handedOver(sourceDir);
    const random = seededRandom(11);
    for (let kill = 0; kill < kills; kill++) {
      const { url, child } = await startServer(dir);
      const call = clientOf(url, key);
      const cycle = kill < kills / 2 ? first : second;
      const paths = [`${v1}/cycles/${cycle}/start`, `${v1}/cycles/${cycle}/complete`];
      if (kill % (kills / 2) === 0)
        for (const path of paths) expect((await call('POST', path)).status).toBe(200);
      await Bun.sleep(random() * 60);
      child.kill('SIGKILL');
      await child.exited;
    }
    const { url, child } = await startServer(dir);
    const call = clientOf(url, key);
    const rolled = (cycle: string): Promise<Json[]> => everything(call, `/cycles/${cycle}/rollovers`);
    const arrived = async (): Promise<number> =>
      (await everything(call, `/issues?cycle=${third}&fields=title`)).length;
    while ((await arrived()) < issuesEach) await Bun.sleep(500);
    expect(await rolled(first)).toHaveLength(issuesEach);
    for (const cycle of [first, second]) {
      const ids = (await rolled(cycle)).map(({ issue }) => issue.id);
      expect(new Set(ids).size).toBe(ids.length);
    }
    const emitted = (await everything(call, '/events?types=cycle.started,cycle.completed')).map(
      ({ type, data }) => `${data.number} ${type}`,
    );
    expect(emitted).toEqual(['1 cycle.started', '1 cycle.completed', '2 cycle.started', '2 cycle.completed']);
    const changes = await everything(call, '/events?types=issue.updated');
    expect(new Set(changes.map(({ data }) => `${data.id} ${data.version}`)).size).toBe(changes.length);
    child.kill('SIGTERM');
    await child.exited;
    rmSync(dir, { recursive: true, force: true });
  },
  600_000,
);
