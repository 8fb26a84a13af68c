// Suggested rules are the changes that people repeat, with their exact counts, and work as they are.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { createIssue, enabled, getIssue, v1 } from './rules.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const suggested = async (): Promise<Json[]> =>
  (await app.call('POST', `${v1}/automations/suggestions`, {})).json.data;
const patch = (id: string, body: object): Promise<Json> => app.call('PATCH', `${v1}/issues/${id}`, body);

test('a change that people repeat is suggested with its share, and other changes are not', async () => {
  expect(await suggested()).toEqual([]);
  await app.call('POST', `${v1}/labels`, { name: 'billing' });
  for (let at = 0; at < 12; at++) {
    await createIssue(app, { title: `Wish ${at}` });
    const { id } = await createIssue(app, { title: `Invoice ${at}` });
    await patch(id, { addLabels: ['billing'] });
    if (at > 0) await patch(id, { priority: 'high' });
    if (at % 2 === 0) await patch(id, { assignee: 'me' });
  }
  const found = await suggested();
  expect(found.map(({ text, times, percent }) => [text, times, percent])).toEqual([
    [
      'After a change to label billing: people set priority high within a day in 91.7 % of 12 cases.',
      12,
      91.7,
    ],
  ]);
  await enabled(app, found[0].rule);
  const { id } = await createIssue(app, { title: 'Invoice' });
  await patch(id, { addLabels: ['billing'] });
  await app.settled();
  expect((await getIssue(app, id)).priority).toBe('high');
});

test('a change that a rule makes is not counted as one of people', async () => {
  const { percent, times } = (await suggested())[0];
  expect([times, percent]).toEqual([13, 84.6]);
});
