import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { readConfig } from '../../core/app/config/config.ts';
import { replay } from '../../core/app/doctor/replay.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';
import { askAs, rightsBut } from '../rights/asking.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await app.call('POST', '/api/v1/teams', { key: 'OPS', name: 'Operations' });
});
afterAll(() => app.stop());

const make = async (more: object = {}): Promise<Json> => {
  const { json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Related', ...more });
  return json;
};
const relate = (id: string, type: string, issueId: string): Promise<Reply> =>
  app.call('POST', `/api/v1/issues/${id}/relations`, { type, issueId });
const listed = async (id: string): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/issues/${id}/relations`)).json.data;
const said = async (id: string): Promise<string[]> =>
  (await listed(id)).map(({ type, issue }) => `${type} ${issue.identifier}`);
const eventsAfter = async (after: number): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/events?limit=100&after=${after}`)).json.data;
const stateTypeOf = async (id: string): Promise<string> =>
  (await app.call('GET', `/api/v1/issues/${id}`)).json.state.type;

test('a relation appears on both sides, across teams, with an event for both issues', async () => {
  const [one, other] = [await make(), await make({ team: 'OPS', title: 'In the way' })];
  const from = await app.lastSequence();
  const { status, json } = await relate(one.identifier, 'blocked_by', other.identifier);
  expect([status, json.id.slice(0, 4)]).toEqual([201, 'rln_']);
  expect(json).toMatchObject({
    type: 'blocked_by',
    issue: { id: other.id, identifier: other.identifier, title: 'In the way', state: { type: 'backlog' } },
    creator: { kind: 'user' },
    version: 1,
  });
  expect(await listed(one.id)).toEqual([json]);
  const { type, issue } = (await app.call('GET', `/api/v1/relations/${json.id}`)).json;
  expect([type, issue.id]).toEqual(['blocks', one.id]);
  expect(await said(other.id)).toEqual([`blocks ${one.identifier}`]);
  const events = await eventsAfter(from);
  expect(events.map(({ type, data }) => [type, data.identifier, data.relation])).toEqual([
    [
      'issue.relation_added',
      other.identifier,
      { id: json.id, type: 'blocks', issue: { id: one.id, identifier: one.identifier } },
    ],
    [
      'issue.relation_added',
      one.identifier,
      { id: json.id, type: 'blocked_by', issue: { id: other.id, identifier: other.identifier } },
    ],
  ]);
  const { id: _, relation: __, ...eventData } = events[1].data;
  expect((await app.call('GET', `/api/v1/issues/${one.id}`)).json).toMatchObject(eventData);
  const history = await app.call('GET', `/api/v1/issues/${other.id}/history`);
  expect(history.json.data.map(({ type }: Json) => type)).toEqual(['issue.created', 'issue.relation_added']);
});

test('the events of a relation show the issues as they are, beside concurrent changes', async () => {
  const [one, other] = [await make(), await make()];
  const rename = (id: string) => app.call('PATCH', `/api/v1/issues/${id}`, { title: 'Renamed' });
  const from = await app.lastSequence();
  const replies = await Promise.all([
    rename(one.id),
    rename(other.id),
    relate(one.id, 'blocks', other.id),
    app.call('POST', `/api/v1/issues/${one.id}/attachments`, { title: 'Log', url: 'https://example.com/' }),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 201, 201]);
  for (const { id } of [one, other]) {
    const shown = (await eventsAfter(from)).filter(({ data }) => data.id === id).at(-1).data;
    expect([shown.title, shown.version]).toEqual(['Renamed', 2]);
  }
});

test('a removed relation disappears on both sides, and can be created again', async () => {
  const [one, other] = [await make(), await make()];
  const { json } = await relate(one.id, 'relates_to', other.id);
  const from = await app.lastSequence();
  const ends = await Promise.all([1, 2, 3].map(() => app.call('DELETE', `/api/v1/relations/${json.id}`)));
  expect(ends.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  expect([await said(one.id), await said(other.id)]).toEqual([[], []]);
  expect(await app.eventTypes(from)).toEqual(['issue.relation_removed', 'issue.relation_removed']);
  expect((await relate(other.id, 'relates_to', one.id)).status).toBe(201);
});

test('invalid relations are rejected with an instruction', async () => {
  const [one, other] = [await make(), await make()];
  await relate(one.id, 'relates_to', other.id);
  const refused = async (type: string, issueId: string) => {
    const { status, json } = await relate(one.id, type, issueId);
    return [status, json.error.details[0]?.path, json.error.details[0]?.issue];
  };
  expect(await refused('relates_to', one.id)).toEqual([422, 'issueId', 'conflict']);
  expect(await refused('relates_to', 'ENG-99999')).toEqual([422, 'issueId', 'not_found']);
  expect(await refused('relates_to', other.id)).toEqual([422, 'issueId', 'already_exists']);
  expect(await refused('cloned_from', other.id)).toEqual([422, 'type', 'invalid_enum']);
  await app.call('DELETE', `/api/v1/issues/${other.id}`);
  expect(await refused('blocks', other.id)).toEqual([422, 'issueId', 'not_found']);
});

test('cycles of blocks and of duplicates are rejected at any length', async () => {
  const [a, b, c] = [await make(), await make(), await make()];
  await relate(a.id, 'blocks', b.id);
  await relate(c.id, 'blocked_by', b.id);
  const { status, json } = await relate(c.id, 'blocks', a.id);
  expect([status, json.error.code]).toEqual([409, 'conflict']);
  expect(json.error.message).toContain(`${a.identifier} blocks ${c.identifier} already`);
  expect((await relate(c.id, 'relates_to', a.id)).status).toBe(201);
  await relate(a.id, 'duplicate_of', b.id);
  expect((await relate(b.id, 'duplicate_of', a.id)).status).toBe(409);
  expect((await relate(a.id, 'duplicate_of', c.id)).json.error.message).toContain(
    'is already a duplicate of another',
  );
});

test('one of two concurrent relations that would close a cycle is rejected', async () => {
  for (let round = 0; round < 10; round++) {
    const [a, b, c] = [await make(), await make(), await make()];
    const type = round % 2 === 0 ? 'blocks' : 'duplicate_of';
    if (round % 3 === 0) await relate(c.id, type, a.id);
    const replies = await Promise.all(
      round % 3 === 0
        ? [relate(a.id, type, b.id), relate(b.id, type, c.id)]
        : [relate(a.id, type, b.id), relate(b.id, type, a.id)],
    );
    expect([round, replies.map(({ status }) => status).sort()]).toEqual([round, [201, 409]]);
  }
});

test('concurrent identical requests create one relation, with one event for each side', async () => {
  const [one, other] = [await make(), await make()];
  const from = await app.lastSequence();
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      at % 2 === 0 ? relate(one.id, 'relates_to', other.id) : relate(other.id, 'relates_to', one.id),
    ),
  );
  expect(replies.filter(({ status }) => status === 201).length).toBe(1);
  expect(replies.filter(({ status }) => status === 422).length).toBe(9);
  expect(await listed(one.id)).toHaveLength(1);
  expect(await app.eventTypes(from)).toEqual(['issue.relation_added', 'issue.relation_added']);
});

test('an issue duplicates at most one other, also under concurrent requests', async () => {
  const [one, ...others] = [await make(), await make(), await make()];
  const replies = await Promise.all(others.map(({ id }) => relate(one.id, 'duplicate_of', id)));
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
});

test('a duplicate moves to the duplicate state of its team in the same change, whatever moves the team allows', async () => {
  const team = (await app.call('POST', '/api/v1/teams', { key: 'DUP', name: 'Strict' })).json;
  const states: Json[] = (await app.call('GET', '/api/v1/workflows?team=DUP')).json.data;
  await app.call('PATCH', `/api/v1/teams/${team.id}`, { transitions: { [states[1].id]: [states[2].id] } });
  const [one, original] = [await make({ team: 'DUP' }), await make()];
  const from = await app.lastSequence();
  await relate(original.id, 'duplicated_by', one.id);
  expect(await stateTypeOf(one.id)).toBe('duplicate');
  expect(await app.eventTypes(from)).toEqual([
    'issue.updated',
    'issue.state_changed',
    'issue.relation_added',
    'issue.relation_added',
  ]);
  const [, , added] = await eventsAfter(from);
  expect(added.data).toMatchObject({ state: { type: 'duplicate' }, version: 2 });
});

test('without a duplicate state a duplicate is canceled, and without a canceled state its state is unchanged', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'FEW', name: 'Few' });
  const drop = async (type: string): Promise<void> => {
    const states: Json[] = (await app.call('GET', '/api/v1/workflows?team=FEW')).json.data;
    await app.call('DELETE', `/api/v1/workflows/${states.find((state) => state.type === type).id}`);
  };
  const original = await make();
  await drop('duplicate');
  const canceled = await make({ team: 'FEW' });
  await relate(canceled.id, 'duplicate_of', original.id);
  expect(await stateTypeOf(canceled.id)).toBe('canceled');
  await app.call('DELETE', `/api/v1/issues/${canceled.id}`);
  await drop('canceled');
  const unchanged = await make({ team: 'FEW' });
  expect((await relate(unchanged.id, 'duplicate_of', original.id)).status).toBe(201);
  expect(await stateTypeOf(unchanged.id)).toBe('backlog');
});

test('relations of a deleted issue are hidden until it is restored, and are removed by a purge', async () => {
  const [one, other] = [await make(), await make()];
  const { json } = await relate(one.id, 'blocks', other.id);
  await app.call('DELETE', `/api/v1/issues/${other.id}`);
  expect(await said(one.id)).toEqual([]);
  expect((await app.call('DELETE', `/api/v1/relations/${json.id}`)).status).toBe(404);
  await app.call('POST', `/api/v1/issues/${other.id}/restore`);
  expect(await said(one.id)).toEqual([`blocks ${other.identifier}`]);
  await app.call('DELETE', `/api/v1/issues/${other.id}`);
  expect((await app.call('POST', `/api/v1/issues/${other.id}/purge`)).status).toBe(204);
  expect(await said(one.id)).toEqual([]);
});

test('a dry-run relation is returned and not created', async () => {
  const [one, other] = [await make(), await make()];
  const body = { type: 'duplicate_of', issueId: other.id };
  const mode = { 'tatami-mode': 'simulate' };
  const { status, json } = await app.call('POST', `/api/v1/issues/${one.id}/relations`, body, mode);
  expect([status, json.type]).toEqual([201, 'duplicate_of']);
  expect([await said(one.id), await stateTypeOf(one.id)]).toEqual([[], 'backlog']);
});

test('lists are paged, oldest first', async () => {
  const one = await make();
  const others = [await make(), await make(), await make()];
  await relate(one.id, 'blocks', others[0].id);
  await relate(others[1].id, 'blocks', one.id);
  await relate(one.id, 'relates_to', others[2].id);
  const path = `/api/v1/issues/${one.id}/relations?limit=2`;
  const first = (await app.call('GET', path)).json;
  const second = (await app.call('GET', `${path}&after=${first.pageInfo.endCursor}`)).json;
  expect([...first.data, ...second.data].map(({ type, issue }) => [type, issue.id])).toEqual([
    ['blocks', others[0].id],
    ['blocked_by', others[1].id],
    ['relates_to', others[2].id],
  ]);
  expect(second.pageInfo.hasNextPage).toBe(false);
});

test('issues are filtered by their relations', async () => {
  const [one, blocker, other, copy] = [await make(), await make(), await make(), await make()];
  await relate(blocker.id, 'blocks', one.id);
  await relate(one.id, 'blocks', other.id);
  await relate(copy.id, 'duplicate_of', one.id);
  const ids = async (query: string): Promise<string[]> => {
    const { json } = await app.call('GET', `/api/v1/issues?limit=100&fields=title&${query}`);
    return json.data.map(({ id }: Json) => id);
  };
  expect(await ids(`blocks=${one.identifier}`)).toEqual([blocker.id]);
  expect(await ids(`blockedBy=${one.id}`)).toEqual([other.id]);
  expect(await ids(`duplicateOf=${one.id}`)).toEqual([copy.id]);
  expect(await ids(`blocks=${one.id}&hasOpenBlockers=true`)).toEqual([]);
  expect(await ids(`blocks=${other.id}&hasOpenBlockers=true`)).toEqual([one.id]);
  const states: Json[] = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  const stateId = states.find(({ type }) => type === 'completed').id;
  await app.call('PATCH', `/api/v1/issues/${blocker.id}`, { stateId });
  expect(await ids(`blocks=${other.id}&hasOpenBlockers=true`)).toEqual([]);
  expect(await ids(`blocks=${other.id}&hasOpenBlockers=false`)).toEqual([one.id]);
  const unknown = await app.call('GET', '/api/v1/issues?blocks=ENG-99999');
  expect([unknown.status, unknown.json.error.details[0].path]).toEqual([422, 'blocks']);
});

test('the doctor compares relations, moves and templates with the log, and reports rows changed outside it', async () => {
  const [one, other] = [await make(), await make()];
  const { json } = await relate(one.id, 'blocks', other.id);
  await app.call('POST', `/api/v1/issues/${one.id}/move`, { team: 'OPS' });
  await app.call('POST', '/api/v1/labels', { name: 'short-lived' });
  await app.call('POST', '/api/v1/templates', { name: 'Any', labels: ['short-lived'], team: 'ENG' });
  await app.settled();
  const findingsAfter = async (name: string, change: string): Promise<string[]> => {
    const dir = join(app.dataDir, '..', `${app.dataDir.split('/').at(-1)}-${name}`);
    // The operator socket cannot be copied.
    cpSync(app.dataDir, dir, { recursive: true, filter: (file) => !statSync(file).isSocket() });
    const db = new Database(join(dir, 'tatami.db'));
    db.exec(change);
    db.close();
    const subject = openSubject(readConfig({ dataDir: dir, sandboxJail: 'off' }, {}), app.clock.now());
    const findings = await replay.look(subject);
    rmSync(dir, { recursive: true });
    return findings.map(({ message }) => message);
  };
  expect(await findingsAfter('whole', 'SELECT 1')).toEqual([]);
  expect(await findingsAfter('gone', `UPDATE relations SET deleted_at = 1 WHERE id = '${json.id}'`)).toEqual([
    `Rows differ from the event log in relations: ${json.id}. Restore a backup.`,
  ]);
  expect(
    await findingsAfter('other', `UPDATE relations SET type = 'relates_to' WHERE id = '${json.id}'`),
  ).toHaveLength(1);
});

test('a key limited to one team sees no relation to an issue of another', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'HID' });
  const make = async (team: string): Promise<string> =>
    (await app.call('POST', '/api/v1/issues', { team, title: 'Related' })).json.id;
  const [seen, near, hidden] = [await make('ENG'), await make('ENG'), await make('HID')];
  for (const issueId of [near, hidden])
    await app.call('POST', `/api/v1/issues/${seen}/relations`, { type: 'blocks', issueId });
  const where = { where: { team: ['ENG'] } };
  const rights = rightsBut({ 'issues:read': where, 'issues:write': where });
  const { text } = await askAs(app, rights, 'GET', `/api/v1/issues/${seen}/history`);
  expect(JSON.parse(text).data.map(({ type }: { type: string }) => type)).toEqual([
    'issue.created',
    'issue.relation_added',
  ]);
  expect([text.includes(near), text.includes(hidden)]).toEqual([true, false]);
});
