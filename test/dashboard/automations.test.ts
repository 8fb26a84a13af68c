// Automations in a real browser.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createSystemClock, startApp, type Json, type TestApp } from '../app.ts';
import { runInNode } from '../browser/run.ts';
import { signIn } from '../features/sign-in/person.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: createSystemClock() });
});
afterAll(() => app.stop());

const post = async (path: string, body: object): Promise<Json> =>
  (await app.call('POST', `/api/v1${path}`, body)).json;

/** Creates an issue whose priority a person sets later. */
async function decided(title: string, priority: string): Promise<void> {
  const { id } = await post('/issues', { team: 'ENG', title });
  await app.call('PATCH', `/api/v1/issues/${id}`, { priority });
}

test('a person builds, previews, enables and pauses a rule without code, from nothing and from a template', async () => {
  const { id } = await post('/members', { name: 'Ana', role: 'admin' });
  const { cookie } = await signIn(app, app.workspace, id);
  await decided('Crash at the end', 'high');
  await decided('Crash at start', 'low');
  await app.settled();
  const target = { url: app.url, cookie, key: app.workspace.apiKey, member: id, ids: {} };
  const { TATAMI_SHOTS: shots } = process.env;
  const seen = await runInNode<Json>('../dashboard/automations-process.ts', [
    JSON.stringify(target),
    ...(shots === undefined ? [] : [shots]),
  ]);
  expect(seen).toEqual({
    added: 'actions.1.body',
    moved: ['Move action 1 down', 'Move action 2 up'],
    focused: true,
    preview:
      'In the last 90 days it would have changed 2 issues: people did the same in 1, differently in 1, nothing in 0.',
    sentence:
      'When an issue is created and its title contains Crash, set the priority to High and comment “Raised: {{ issue.title }}”.',
    isWide: false,
    stored: {
      state: 'paused',
      conditions: { issue: { title: { contains: 'Crash' } } },
      actions: [
        { type: 'set', fields: { priority: 'high' } },
        { type: 'comment', body: 'Raised: {{ issue.title }}' },
      ],
    },
    acted: true,
    undone: { priority: 'none', status: 'undone' },
    paused: 'paused',
    stepDown: { share: 0.3, least: 5, days: 7 },
    template: {
      state: 'active',
      trigger: {
        type: 'event',
        event: 'issue.created',
        filter: { or: [{ title: { contains: 'burning' } }, { description: { contains: 'burning' } }] },
      },
    },
    left: {
      byTab: 'Typed',
      byReload: 'Typed',
      canEnable: false,
      focused: 'name',
      discarded: '',
      bySidebar: 'Half',
    },
    conflict: {
      afterSave: 'Theirs',
      typed: 'Mine',
      afterSaveAnyway: 'Mine',
      besidesOthers: 'Again',
      whileSaving: ['Sent', 'Later'],
    },
    deleted: 'Orphan',
    chosen: { cron: '0 9 * * 1,3', event: 'comment.added' },
    failed: ['failed in 3 of 3 runs', 'failed in 3 of 3 runs'],
    problems: [],
  });
});
