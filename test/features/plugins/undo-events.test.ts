// All events of one commit show an issue in its state after the commit.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

test('every event of an undo or a run shows its issue in the state after the commit', async () => {
  const ask = async (method: string, path: string, body?: object): Promise<Json> => {
    const { status, json, text } = await app.call(method, `/api/v1/${path}`, body);
    if (status >= 400) throw new Error(`${path} answered ${status}: ${text}`);
    return json;
  };
  const other = await ask('POST', 'issues', { team: 'ENG', title: 'Other' });
  const issue = await ask('POST', 'issues', { team: 'ENG', title: 'One' });
  const link = { title: 'Log', url: 'https://example.com/log' };
  await install(
    app.call,
    await packSource(`{
      id: 'com.test.undo-told', version: '1.0.0', engines: { tatami: '*' },
      scopes: { 'issues:write': { why: 'test' }, 'attachments:write': { why: 'test' } },
      actions: {
        relate: { target: 'issue', handle: async ({ target }, ctx) => {
          await ctx.issues.update(target.id, { title: 'Two' });
          await ctx.relations.create(target.id, { type: 'blocks', issueId: '${other.id}' });
          await ctx.attachments.create(target.id, ${JSON.stringify(link)});
          await ctx.issues.update(target.id, { priority: 'urgent', labels: ['bug'] });
        } },
        unrelate: { target: 'issue', handle: async ({ target }, ctx) => {
          for (const { id } of (await ctx.relations.list(target.id)).data) await ctx.relations.delete(id);
          await ctx.issues.update(target.id, { priority: 'low', addLabels: ['feature'] });
        } },
      },
    }`),
    { modes: { delete: 'apply' } },
  );
  const act = (name: string): Promise<Json> =>
    ask('POST', `plugins/com.test.undo-told/actions/${name}`, { target: issue.id });
  /** Every event of the issue shows its current state. */
  const expectEvents = async (after: number, ...types: string[]): Promise<void> => {
    const { updatedAt: _, ...now } = await ask('GET', `issues/${issue.id}`);
    const { data } = await ask('GET', `events?after=${after}&limit=100`);
    const events = (data as Json[]).filter((event) => event.data.id === issue.id);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(types));
    for (const { type, data } of events) expect({ type, data }).toMatchObject({ type, data: now });
  };
  const changed = ['issue.updated', 'issue.labeled'];
  const [added, removed] = ['issue.relation_added', 'issue.relation_removed'];

  const start = await app.lastSequence();
  const related = await act('relate');
  await expectEvents(start, ...changed, added, 'issue.attachment_added');

  const unrelated = await act('unrelate');
  const beforeFirst = await app.lastSequence();
  await ask('POST', `runs/${unrelated.id}/undo`);
  await expectEvents(beforeFirst, ...changed, added);

  const beforeSecond = await app.lastSequence();
  const undone = await ask('POST', `runs/${related.id}/undo`);
  await expectEvents(beforeSecond, ...changed, removed, 'issue.attachment_removed');

  const beforeThird = await app.lastSequence();
  await ask('POST', `undos/${undone.id}/undo`);
  await expectEvents(beforeThird, ...changed, added, 'issue.attachment_added');
});
