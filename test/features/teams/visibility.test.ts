import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Route } from '../../../core/kernel/http/route.ts';
import { askAs, pathOf, rightsBut } from '../../rights/asking.ts';
import { seed, type Seeds } from '../../api/seeds.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { join, v1, type Person } from '../people.ts';

const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
let app: TestApp;
let ana: Person;
let ben: Person;
beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  ana = await join(app, 'Ana Lindqvist');
  ben = await join(app, 'Ben Okafor');
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

const post = async (path: string, body?: object, call: Client = app.call): Promise<Json> => {
  const { status, json, text } = await call('POST', v1 + path, body);
  expect([path, status < 300, text]).toEqual([path, true, text]);
  return json;
};

/** Operations that expose the whole workspace or server under their own scope. */
const ofAll = ['audit-log.list', 'events.list', 'teams.list', 'workflows.list', 'usage.get'];
const where = { where: { team: ['ENG'] } };
const rights = rightsBut({ 'issues:read': where, 'issues:write': where });

describe('a key limited to one team', () => {
  let ids: Seeds;
  let outside: Json;
  const moved: Json[] = [];
  beforeAll(async () => {
    ids = await seed(app, app.call, 'ENG', `http://127.0.0.1:${receiver.port}/`);
    await post('/teams', { key: 'OPS' });
    outside = await post('/issues', { team: 'OPS', title: 'Hidden' });
    moved.push(outside, await post('/issues', { team: 'OPS', title: 'Hidden too', estimate: 8 }));
    await post(`/releases/${ids.release}/issues`, { issueIds: [outside.id] });
    await app.settled();
  });

  const answers = async (): Promise<Map<string, string>> => {
    const reads = app.app.routes.filter(
      ({ kind, scope, name }: Route) => kind === 'read' && scope !== null && !ofAll.includes(name),
    );
    const all = new Map<string, string>();
    for (const route of reads) {
      const path = pathOf(route, ids);
      const query = /\/(search|titles)$/.test(path)
        ? '?q=Hidden'
        : /projects\/.*progress/.test(path)
          ? '?since=2026-11-01'
          : '';
      const { status, text } = await askAs(app, rights, 'GET', path + query);
      all.set(route.name, `${status} ${text}`);
    }
    return all;
  };

  test('learns nothing of another team from any response, before and after changes there', async () => {
    const before = await answers();
    for (const one of [
      'projects.progress',
      'cycles.progress',
      'boards.cards',
      'releases.issues.list',
      'sla.clocks',
    ])
      expect([one, before.get(one)?.slice(0, 3)]).toEqual([one, '200']);
    const notes = (): Promise<string> =>
      askAs(app, rights, 'POST', `${v1}/releases/${ids.release}/notes/draft`, {}).then(({ text }) => text);
    const draft = await notes();
    expect(draft).toContain('Secret of ENG');
    expect(draft).not.toContain('Hidden');
    for (const { id } of moved)
      await app.call('PATCH', `${v1}/issues/${id}`, {
        ...{ projectId: ids.project, milestoneId: ids.milestone, priority: 'urgent', title: 'Secret of ENG' },
      });
    await app.settled();
    const after = await answers();
    for (const [name, answer] of before) expect([name, after.get(name)]).toEqual([name, answer]);
    expect(await notes()).toBe(draft);
    // Keys that see both teams get the full counts.
    const { progress, days } = (
      await app.call('GET', `${v1}/projects/${ids.project}/progress?since=2026-11-20`)
    ).json;
    expect([progress.issues, progress.estimate, days[0].issues.scope]).toEqual([2, 8, 2]);
  });

  test('sees no cycles of another team, also with a scope that covers them', async () => {
    const hour = 3_600_000;
    const at = (ms: number): string => new Date(app.clock.now() + ms).toISOString();
    const cycle = await post('/cycles', { team: 'OPS', startsAt: at(hour), endsAt: at(9 * hour) });
    await app.call('PATCH', `${v1}/issues/${outside.id}`, { cycleId: cycle.id });
    await post(`/cycles/${cycle.id}/start`);
    const responseOf = async (part: string) =>
      JSON.parse((await askAs(app, rights, 'GET', `${v1}/cycles/${cycle.id}/${part}`)).text);
    expect((await responseOf('progress')).days[0].issues.scope).toBe(0);
    expect((await app.call('GET', `${v1}/cycles/${cycle.id}/progress`)).json.days[0].issues.scope).toBe(1);
    await post(`/cycles/${cycle.id}/complete`);
    await app.settled();
    expect((await responseOf('rollovers')).data).toEqual([]);
    expect((await app.call('GET', `${v1}/cycles/${cycle.id}/rollovers`)).json.data).toHaveLength(1);
  });
});

describe('events of an inbox', () => {
  test('are delivered to its member, and to holders of inboxes:read', async () => {
    const from = await app.lastSequence();
    for (const { id } of [ana, ben]) await post('/issues', { team: 'ENG', title: 'Look', assigneeId: id });
    await app.settled();
    const deliveredTo = async (call: Client): Promise<string[]> => {
      const { data } = (await call('GET', `${v1}/events?after=${from}&types=inbox.*`)).json;
      return data.map(({ data }: Json) => data.member.id);
    };
    expect(await deliveredTo(ana.call)).toEqual([ana.id]);
    expect(await deliveredTo(ben.call)).toEqual([ben.id]);
    expect(await deliveredTo(app.call)).toEqual([ana.id, ben.id]);
    const plain = app.clientOf(await app.mintKey(['inbox:read', 'events:read', 'webhooks:write']));
    expect(await deliveredTo(plain)).toEqual([]);
    const [of] = (await app.call('GET', `${v1}/events?after=${from}&types=inbox.*`)).json.data;
    const statuses = await Promise.all(
      [ana.call, ben.call].map(async (call) => (await call('GET', `${v1}/events/${of.id}`)).status),
    );
    expect(statuses).toEqual([200, 404]);
    const url = `http://127.0.0.1:${receiver.port}/`;
    const { status, json } = await plain('POST', `${v1}/webhooks`, { url, events: ['inbox.*'] });
    expect([status, json.error.code]).toEqual([403, 'insufficient_scope']);
    expect(json.error.message).toContain('inboxes:read');
  });

  test('are streamed to no other key', async () => {
    const from = await app.lastSequence();
    await app.call('PUT', `${v1}/inbox/preferences`, { replied: false });
    await ana.call('PUT', `${v1}/inbox/preferences`, { replied: false });
    const { json: key } = await app.call('POST', `${v1}/api-keys`, {
      ...{ name: 'stream', scopes: ['inbox:read', 'events:read'], memberId: ana.id },
    });
    for (const after of [`&after=${from}`, '']) {
      const end = new AbortController();
      const stream = await fetch(new URL(`${v1}/events/stream?types=inbox.*${after}`, app.url), {
        headers: { authorization: `Bearer ${key.key}` },
        signal: end.signal,
      });
      await app.call('PUT', `${v1}/inbox/preferences`, { replied: after === '' });
      await ana.call('PUT', `${v1}/inbox/preferences`, { replied: after === '' });
      let text = '';
      const decoder = new TextDecoder();
      for await (const piece of stream.body!) {
        text += decoder.decode(piece);
        if (text.split('event: ').length > 1) break;
      }
      end.abort();
      const members = [...text.matchAll(/"member":\{"id":"(usr_\w+)"/g)].map(([, id]) => id);
      expect(new Set(members)).toEqual(new Set([ana.id]));
    }
  });
});
