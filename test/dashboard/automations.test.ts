// Automations in a real browser.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../app.ts';
import { openScene, runAt, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
}, 60_000);
afterAll(() => scene.stop());

test('a person builds, previews, enables and pauses an automation', async () => {
  for (const [title, priority] of [['Crash at end', 'high'], ['Crash at start', 'low']] as const) {
    const { json } = await scene.app.call('POST', '/api/v1/issues', { team: 'ENG', title });
    await scene.app.call('PATCH', `/api/v1/issues/${json.id}`, { priority });
  }
  const seen = await runAt<Json>(scene, 'automations-process.ts', ...(process.env.SHOTS ? [process.env.SHOTS] : []));
  console.log(seen);
  expect(seen).toMatchObject({ complaints: [] });
}, 60_000);
