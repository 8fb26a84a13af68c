// A list of 20,000 issues in a real browser. TATAMI_LONG=1 runs it; it takes some minutes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../app.ts';
import { openScene, runAt, type Scene } from './scene.ts';

const isLong = process.env.TATAMI_LONG !== undefined;
const count = 20_000;
const perRequest = 100;

let scene: Scene | undefined;
beforeAll(async () => {
  if (!isLong) return;
  scene = await openScene();
  const { json } = await scene.app.call('GET', '/api/v1/issues/count');
  for (let at = json.count; at < count; at += perRequest) {
    const issues = Array.from({ length: Math.min(perRequest, count - at) }, (_, n) => ({
      team: 'ENG',
      title: `Many ${at + n}`,
      priority: (at + n) % 4 === 0 ? 'urgent' : 'low',
    }));
    const { status } = await scene.app.call('POST', '/api/v1/issues/bulk', { issues });
    expect(status).toBe(201);
  }
}, 600_000);
afterAll(() => scene?.stop());

test.each(isLong ? [count] : [])(
  'a list of %d issues scrolls to its end, filters and groups',
  async () => {
    expect(await runAt<Json>(scene!, 'large-process.ts', `${count}`)).toEqual({
      heading: `Issues ${count} issues`,
      rows: `${count}`,
      oldest: expect.stringMatching(/^ENG-1 /),
      // 7700 to 7799; the issues with lower numbers have other titles.
      filtered: 'Issues 100 issues',
      grouped: expect.stringContaining('Urgent'),
      complaints: [],
    });
  },
  600_000,
);
