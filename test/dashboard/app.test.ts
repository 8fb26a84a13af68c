// The web app in a real browser, with real data.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../app.ts';
import { watchSlowness } from '../slow-machine.ts';
import { openScene, runAt, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
}, 60_000);
afterAll(() => scene.stop());

test('every screen is accessible in both themes, fits a phone, and causes no error of the browser', async () => {
  const seen = await runAt<Json>(scene, 'screens-process.ts');
  expect(seen.violations).toEqual([]);
  expect(seen.complaints).toEqual([]);
  expect(seen.wide).toEqual([]);
  expect(Object.entries(seen.titles).filter(([, title]) => !/. · Tatami$/.test(String(title)))).toEqual([]);
  expect(seen.missing).toEqual(['200 Page not found', '200 Page not found', '404 Page not found']);
}, 90_000);

test('a person does the daily work by keyboard alone, and by touch on a phone', async () => {
  const done = await runAt<Json>(scene, 'journeys-process.ts');
  expect(done).toMatchObject({
    keyboardCreate: 1,
    keyboardTriage: true,
    keyboardMove: true,
    'Approved by keyboard': 1,
    keyboardReplay: 1,
    touchCreate: 1,
    touchTriage: true,
    touchMove: true,
    'Approved by touch': 1,
    touchReplay: 1,
    complaints: [],
  });
}, 90_000);

test('no text runs code, no edit is lost, and the app survives a restart of the server and a lower role', async () => {
  const seen = await runAt<Json>(scene, 'hostile-process.ts');
  expect(seen).toMatchObject({
    attacked: 0,
    unsafeLinks: [],
    kept: 'Mine',
    stored: 'Theirs',
    saved: 'Mine',
    afterRestart: true,
    complaints: [],
  });
  expect(seen.guest).toContain('scope');
}, 90_000);

/** Everything that a person does at a screen of planning, and undoes there. */
const planning = {
  triage: {
    priority: true,
    team: true,
    labels: true,
    snooze: true,
    accept: true,
    duplicate: true,
    decline: true,
    filter: true,
  },
  boards: { byKey: true, byMenu: true, byMouse: true, opens: true },
  cycles: {
    sentence: '1 unfinished issue moves to NEXT.',
    rows: ['ID Unfinished work to NEXT'],
    moved: ['Unfinished work'],
  },
  projects: { edited: ['All is done', 'By somebody else'], others: 0, deleted: ['By somebody else'] },
  releases: { added: 2, left: 1 },
  sla: {
    created: { targetMinutes: 60, atRiskMinutes: 15, filter: { priority: ['urgent'] }, pausedIn: ['triage'] },
    changed: { targetMinutes: 120, enabled: false },
    left: 0,
  },
  templates: {
    created: {
      name: 'Bug report',
      team: null,
      title: 'Crash:',
      priority: 'high',
      subIssues: ['Write a test', 'Fix it'],
    },
    left: 0,
  },
};

test.each(Object.entries(planning))(
  'the work at the screen %s is done by keyboard, with accessible dialogs that fit a phone',
  async (screen, expected) => {
    const { done, problems } = await runAt<Json>(scene, 'planning-process.ts', screen);
    expect(done).toEqual(expected);
    expect(problems).toEqual([]);
  },
  120_000,
);

// The last test, because it signs the person out.
test('all tabs follow changes made elsewhere, and end with the session', async () => {
  const slowness = watchSlowness();
  const live = await runAt<Json>(scene, 'live-process.ts');
  expect(live.complaints).toEqual([]);
  expect([...live.delays, live.fiveTabs, live.byLeader, live.afterLeader].every(Number.isFinite)).toBe(true);
  expect(Math.min(...live.delays)).toBeLessThanOrEqual(300 * slowness());
  expect(live.streams).toBe(1);
}, 60_000);
