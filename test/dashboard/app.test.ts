// The web app in a real browser, with real data.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../app.ts';
import { watchSlowness } from '../slow-machine.ts';
import { openScene, runAt, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
}, 180_000);
afterAll(() => scene.stop());

test('every screen is accessible in both themes, fits a phone, and causes no error of the browser', async () => {
  const seen = await runAt<Json>(scene, 'screens-process.ts');
  expect(seen.violations).toEqual([]);
  expect(seen.complaints).toEqual([]);
  expect(seen.wide).toEqual([]);
  expect(Object.entries(seen.titles).filter(([, title]) => !/. · Tatami$/.test(String(title)))).toEqual([]);
  expect(seen.missing).toEqual(['200 Page not found', '200 Page not found', '404 Page not found']);
}, 180_000);

test('a person does the daily work by keyboard alone, and by touch on a phone', async () => {
  const done = await runAt<Json>(scene, 'journeys-process.ts');
  expect(done).toMatchObject({
    keyboardCreate: 1,
    keyboardTriage: true,
    keyboardMove: true,
    layout: ['?group=priority&layout=board', 'true', true],
    listMove: true,
    'Approved by keyboard': 1,
    keyboardReplay: 1,
    touchCreate: 1,
    touchTriage: true,
    touchMove: true,
    'Approved by touch': 1,
    touchReplay: 1,
    complaints: [],
  });
});

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
});

test('the issue page and the dialog for new issues lose nothing, write nothing twice, and never block', async () => {
  const seen = await runAt<Json>(scene, 'issue-process.ts');
  expect(seen).toMatchObject({
    pressedTwice: 1,
    afterCreate: '',
    lostAnswer: 1,
    attached: ['note.txt'],
    named: true,
    hiddenParent: null,
    typedTitle: 'Typed title',
    afterReload: '- [ ] first task\n- [ ] second task',
    task: '- [ ] first task\n- [x] second task',
    earlier: true,
    focusAfterPick: 'Priority: Urgent',
    mention: 'Ask @Ana please',
    mentioned: ['Ana'],
    fields: ['urgent', 'ENG-30'],
    touched: 'State',
    sorted: 'Second, Third, First',
    responsive: true,
  });
});

test('an issue with 120 comments opens with few requests, and changes of another issue cause none', async () => {
  const seen = await runAt<Json>(scene, 'comments-process.ts', '120');
  const comments = '/api/v1/issues/{id}/comments';
  const [reactions, trail] = [`${comments}/reactions`, '/api/v1/issues/{id}/trail'];
  expect(seen).toEqual({
    // The newest 100 comments and the first comment of a reply; their reactions 100 at a time.
    opened: { [comments]: 2, [reactions]: 2, [trail]: 1 },
    answers: ['Answer to the first', 'Another answer to the first'],
    middles: 0,
    followed: { [reactions]: 1 },
    earlier: { [comments]: 1, [reactions]: 1, [trail]: 1 },
    remarks: 116,
    roots: 1,
    complaints: [],
  });
});

test('attached images show in the texts of their issue, every other image waits, and files download without a bearer', async () => {
  const seen = await runAt<Json>(scene, 'files-process.ts');
  expect(seen).toMatchObject({
    shown: ['Preview of shown.png', 'by URL', 'by path', 'in a comment'],
    remote: [
      'of another server: Load image from images.example',
      'of another host: Load image from images.example',
    ],
    requested: ['/files/att_…'],
    violations: [],
    copied: `![shown.png](/api/v1/attachments/${seen.image}/content)`,
    downloads: ['notes.txt: Three notes', 'disguised.png: <svg xmlns=', 'shown.png: \x89PNG\r\n\x1a\n\0\0\0'],
    displayed: 'image/png',
    saved: 'disguised.png',
    complaints: [],
  });
});

test('a lower role takes back a move of an open board with its reason, and hides what it may not do', async () => {
  expect(await runAt<Json>(scene, 'roles-process.ts')).toEqual({
    refusal: expect.stringContaining(
      'needs the scope boards:write, which the role guest of Ana does not have',
    ),
    column: 'Backlog',
    settings: 0,
    guestSees: expect.any(Number),
    complaints: [],
  });
});

// The last test, because it signs the person out.
test('all tabs follow changes made elsewhere, and end with the session', async () => {
  const slowness = watchSlowness();
  const live = await runAt<Json>(scene, 'live-process.ts');
  expect(live.complaints).toEqual([]);
  expect([...live.delays, live.fiveTabs, live.byLeader, live.afterLeader].every(Number.isFinite)).toBe(true);
  expect(Math.min(...live.delays)).toBeLessThanOrEqual(300 * slowness());
  expect(live.streams).toBe(1);
});
