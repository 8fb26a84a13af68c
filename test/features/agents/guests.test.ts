import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { connect, type Agent } from './agents.ts';
import { expectAsNowhere } from './foreign.ts';

let app: TestApp;
let guest: Agent;
beforeAll(async () => {
  app = await startApp();
  const member = await create('/members', { name: 'Gast', role: 'guest', teams: ['ENG'] });
  const scopes = ['issues:write', 'comments:write', 'boards:read', 'cycles:read', 'projects:read'];
  const { key } = await create('/api-keys', { name: 'guest', memberId: member.id, scopes });
  guest = await connect(app, key);
});
afterAll(async () => {
  await guest.close();
  await app.stop();
});

const create = async (path: string, body: object): Promise<Json> => {
  const { status, json, text } = await app.call('POST', `/api/v1${path}`, body);
  if (status !== 201) throw new Error(text);
  return json;
};

test('an agent of a guest gets not-found responses for objects of other teams', async () => {
  await create('/teams', { key: 'HID', name: 'Hidden' });
  const issue = await create('/issues', { team: 'HID', title: 'Hidden pineapple' });
  const issue2 = await create('/issues', { team: 'HID', title: 'Hidden too' });
  const span = { startsAt: '2031-03-03T00:00:00.000Z', endsAt: '2031-03-17T00:00:00.000Z' };
  const cycle = await create('/cycles', { team: 'HID', ...span });
  const board = await create('/boards', { name: 'Hidden', team: 'HID' });
  await app.settled();
  const from = await app.lastSequence();
  const real = {
    ...{ issue: issue.id, identifier: issue.identifier, issue2: issue2.id, team: 'HID', words: 'pineapple' },
    ...{ board: board.id, cycle: cycle.id, plugin: 'acme.none', backtest: 'btt_none' },
    ...{ proposal: 'prp_none', project: 'prj_none' },
  };
  await expectAsNowhere(guest, real);
  expect(await app.lastSequence()).toBe(from);
});

test('lists, completions and prompts of an agent of a guest contain objects of the guest’s teams only', async () => {
  await create('/issues', { team: 'ENG', title: 'Seen pineapple' });
  await create('/issues', { team: 'HID', title: 'Unseen pineapple' });
  await app.settled();
  const { data } = await guest.call('issues_search', { q: 'pineapple' });
  expect(data.map(({ issue }: Json) => issue.title)).toEqual(['Seen pineapple']);
  const { resources } = await guest.client.listResources();
  expect(JSON.stringify(resources)).toContain('Seen pineapple');
  expect(JSON.stringify(resources)).not.toMatch(/Unseen|Hidden|HID-/);
  const { completion } = await guest.client.complete({
    ref: { type: 'ref/resource', uri: 'tatami://issues/{identifier}' },
    argument: { name: 'identifier', value: 'HID-' },
  });
  expect(completion.values).toEqual([]);
  const prompt = (name: string, args: object): Promise<string> =>
    guest.client.getPrompt({ name, arguments: args }).then(
      (answer: Json) => JSON.stringify(answer),
      ({ message }: Error) => message,
    );
  expect(await prompt('triage_issue', { issue: 'HID-1' })).not.toContain('pineapple');
  expect(await prompt('plan_cycle', { team: 'HID' })).not.toMatch(/pineapple|Hidden too/);
});
