// The mode of a field applies to each of its names and to every operation that changes the field; a mode without effect
// is refused.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await create('/teams', { key: 'OPS' });
  await create('/labels', { name: 'late' });
});
afterAll(() => app.stop());

const create = async (path: string, body: object): Promise<Json> =>
  (await app.call('POST', `/api/v1${path}`, body)).json;

/** Performs the operation in the description of an issue. */
const source = `{
  id: 'com.test.fields', version: '1.0.0', engines: { tatami: '*' },
  scopes: { ...${allTrackerScopes}, 'boards:write': { why: 'test' } },
  on: { 'issue.created': { handle: async ({ data }, ctx) => {
    const { move, card, ...patch } = JSON.parse(data.description);
    if (move) await ctx.issues.move(data.id, move);
    else if (card) await ctx.boards.move(card.board, { issueId: data.id, column: card.column });
    else await ctx.issues.update(data.id, patch);
  } } },
}`;
const path = '/api/v1/plugins/com.test.fields';

/** Outcome of a run's write under this mode of its field. */
async function outcomeOf(name: string, modeInput: object): Promise<Json> {
  await install(app.call, await packSource(source), {
    mode: 'apply',
    modes: { [`update.${name}`]: 'propose' },
  });
  const { id } = await create('/issues', {
    team: 'ENG',
    title: name,
    description: JSON.stringify(modeInput),
  });
  await app.settled();
  const [run] = (await app.call('GET', `${path}/runs?limit=1`)).json.data;
  const { version } = (await app.call('GET', `/api/v1/issues/${id}`)).json;
  return { status: run.status, isProposed: run.proposalId !== null, version };
}
const waits = { status: 'proposed', isProposed: true, version: 1 };
const applied = { status: 'succeeded', isProposed: false, version: 2 };

test('a mode applies by the response name and by the request names of its field', async () => {
  const { id: member } = await create('/members', { name: 'Mia' });
  const { data: states } = (await app.call('GET', '/api/v1/workflows?team=ENG')).json;
  const { id: stateId } = states.find(({ type }: Json) => type === 'completed');
  const modeInput = {
    assignee: { assigneeId: member },
    assigneeId: { assigneeId: member },
    state: { stateId },
    stateId: { stateId },
    labels: { addLabels: ['late'] },
    addLabels: { labels: ['late'] },
    team: { move: { team: 'OPS' } },
    teamKey: { move: { teamId: 'OPS' } },
  };
  for (const [name, body] of Object.entries(modeInput))
    expect([name, await outcomeOf(name, body)]).toEqual([name, waits]);
  expect(await outcomeOf('estimate', { stateId })).toEqual(applied);
});

test('a mode applies to moves of a card on a board', async () => {
  const { id: board } = await create('/boards', { name: 'Urgency', groupBy: 'priority' });
  const card = { board, column: 'high' };
  expect(await outcomeOf('priority', { card })).toEqual(waits);
  expect(await outcomeOf('state', { card })).toEqual(applied);
});

test('a field that plugins cannot update is refused with the valid names, which the guide lists', async () => {
  const modes = { 'update.asignee': 'propose' };
  const replies = [
    await app.call('PATCH', path, { modes }),
    await app.call('POST', '/api/v1/plugins', { package: await packSource(source), replace: true, modes }),
  ];
  for (const { status, json } of replies)
    expect([status, json.error.details[0]]).toEqual([
      422,
      {
        path: 'modes.update.asignee',
        issue: 'unknown_field',
        fix: expect.stringMatching(/one of assignee, .*priority.*Did you mean assignee/),
      },
    ]);
  const [, names] = /one of ([a-zA-Z, ]+)\./.exec(replies[0]!.json.error.details[0].fix)!;
  expect(await Bun.file('docs/plugins/proposals.md').text()).toContain(
    names!
      .split(', ')
      .map((name) => `\`${name}\``)
      .join(', '),
  );
});
