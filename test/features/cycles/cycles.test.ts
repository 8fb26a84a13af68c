import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';

const v1 = '/api/v1';
const dayMs = 86_400_000;
let app: TestApp;
let keys = 0;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const get = async (path: string): Promise<Json> => (await app.call('GET', v1 + path)).json;
const send = (method: string, path: string, body?: unknown) => app.call(method, v1 + path, body);
const moved = async (ms: number): Promise<void> => {
  app.clock.advance(ms);
  await app.settled();
};
const until = (time: string): Promise<void> => {
  expect(Date.parse(time)).toBeGreaterThan(app.clock.now());
  return moved(Date.parse(time) - app.clock.now());
};

/** Creates a team for one test, with a unique key. */
async function team(settings: object = {}): Promise<Json> {
  const { json } = await send('POST', '/teams', { key: `C${++keys}` });
  const { json: changed, status } = await send('PATCH', `/teams/${json.id}`, settings);
  expect(status).toBe(200);
  await app.settled();
  return changed;
}
const cyclesOf = async (key: string): Promise<Json[]> => (await get(`/cycles?team=${key}`)).data;
const span = ({ startsAt, endsAt }: Json): string => `${startsAt.slice(0, 16)} ${endsAt.slice(0, 16)}`;
const plan = async (key: string, fromDays: number, toDays: number): Promise<Json> => {
  const at = (days: number): string => new Date(app.clock.now() + days * dayMs).toISOString();
  const { json, status } = await send('POST', '/cycles', {
    team: key,
    startsAt: at(fromDays),
    endsAt: at(toDays),
  });
  expect([status, json]).toEqual([201, json]);
  return json;
};
const issue = async (key: string, cycleId: string | null, more: object = {}): Promise<Json> =>
  (await send('POST', '/issues', { team: key, title: 'Work', cycleId, ...more })).json;
const stateOf = async (key: string, type: string): Promise<string> =>
  (await get(`/workflows?team=${key}`)).data.find((state: Json) => state.type === type).id;

async function events(after: number, namespace = 'cycle.'): Promise<Json[]> {
  const matching: Json[] = [];
  for (let at = after; ;) {
    const { data, pageInfo } = await get(`/events?limit=100&after=${at}`);
    matching.push(...data.filter(({ type }: Json) => type.startsWith(namespace)));
    if (!pageInfo.hasNextPage) return matching;
    at = data.at(-1).sequence;
  }
}
/** Returns the cycle events of a team. */
const emittedFor = async (after: number, key: string): Promise<string[]> =>
  (await events(after))
    .filter(({ data }) => data.team === key)
    .map(({ type, data }) => `${data.name} ${type.slice(6)}`);

describe('a rhythm', () => {
  test('creates cycles ahead at local midnight, over both clock changes', async () => {
    const { key } = await team({
      timeZone: 'Europe/Zagreb',
      cycles: { weeks: 1, ahead: 15, startsOn: 'wednesday' },
    });
    const created = await cyclesOf(key);
    expect(created.map(({ name }) => name)).toEqual(created.map((_, index) => `Cycle ${index + 1}`));
    expect(created).toHaveLength(15);
    expect(span(created[0])).toBe('2026-11-24T23:00 2026-12-01T23:00');
  });

  test.each([
    ['Europe/Zagreb', '2027-03-16T12:00:00Z', '2027-03-21T23:00 2027-03-28T22:00', 167],
    ['Europe/Zagreb', '2027-10-20T12:00:00Z', '2027-10-24T22:00 2027-10-31T23:00', 169],
    ['America/New_York', '2027-03-03T12:00:00Z', '2027-03-08T05:00 2027-03-15T04:00', 167],
    ['America/New_York', '2027-10-30T12:00:00Z', '2027-11-01T04:00 2027-11-08T05:00', 169],
    ['Asia/Kolkata', '2027-03-24T12:00:00Z', '2027-03-28T18:30 2027-04-04T18:30', 168],
  ])('in %s from %s on: %s', async (timeZone, now, wanted, hours) => {
    const { spansFrom } = await import('../../../core/features/cycles/course.ts');
    const rhythm = { weeks: 1, startsOn: 'monday', cooldownWeeks: 0 } as const;
    const spans = spansFrom(timeZone, rhythm, { ms: Date.parse(now), isEnd: false }, 3);
    const matching = spans.find(({ startsAt }) =>
      new Date(startsAt).toISOString().startsWith(wanted.slice(0, 16)),
    )!;
    expect(new Date(matching.endsAt).toISOString().slice(0, 16)).toBe(wanted.slice(17));
    expect((matching.endsAt - matching.startsAt) / 3_600_000).toBe(hours);
    expect(spans.slice(1).every((span, index) => span.startsAt === spans[index]!.endsAt)).toBe(true);
  });

  test('creates the next cycle when one starts, respects the cooldown, and can be changed and switched off', async () => {
    const { key, id, cycles } = await team({ cycles: { weeks: 1, cooldownWeeks: 1, ahead: 1 } });
    expect(cycles).toEqual({ weeks: 1, startsOn: 'monday', cooldownWeeks: 1, ahead: 1, rollsOver: true });
    const from = await app.lastSequence();
    const [first] = await cyclesOf(key);
    await until(first.startsAt);
    expect(await emittedFor(from, key)).toEqual(['Cycle 1 started', 'Cycle 2 created']);
    const [active, next] = await cyclesOf(key);
    expect([active.status, active.startedAt]).toEqual(['active', active.startsAt]);
    expect(Date.parse(next.startsAt) - Date.parse(active.endsAt)).toBe(7 * dayMs);
    await send('PATCH', `/teams/${id}`, { cycles: { weeks: 2, ahead: 2 } });
    await app.settled();
    expect(
      (await cyclesOf(key)).map(
        ({ endsAt, startsAt }) => (Date.parse(endsAt) - Date.parse(startsAt)) / dayMs,
      ),
    ).toEqual([7, 7, 14]);
    await send('PATCH', `/teams/${id}`, { cycles: null });
    await until((await cyclesOf(key)).at(-1)!.endsAt);
    expect((await cyclesOf(key)).map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
  });

  test('creates no cycle beyond the last supported year', async () => {
    const { key, id } = await team();
    const far = { team: key, startsAt: '9999-09-01T00:00:00Z', endsAt: '9999-10-01T00:00:00Z' };
    const { json: planned } = await send('POST', '/cycles', far);
    await send('PATCH', `/teams/${id}`, { cycles: { weeks: 4, ahead: 15 } });
    await app.settled();
    const all = await cyclesOf(key);
    expect(all.map(span)).toEqual([
      '9999-09-01T00:00 9999-10-01T00:00',
      '9999-10-04T00:00 9999-11-01T00:00',
      '9999-11-01T00:00 9999-11-29T00:00',
      '9999-11-29T00:00 9999-12-27T00:00',
    ]);
    // A cycle started early can exceed the maximum length of a planned one, and can still be renamed.
    expect((await send('POST', `/cycles/${planned.id}/start`)).status).toBe(200);
    expect((await send('PATCH', `/cycles/${planned.id}`, { name: 'Long' })).status).toBe(200);
    const early = { ...far, startsAt: '0001-01-01T00:00:00Z', endsAt: '0001-02-01T00:00:00Z' };
    const { status, json } = await send('POST', '/cycles', early);
    expect([status, json.error?.details[0].path]).toEqual([422, 'startsAt']);
  });

  test('is rejected if invalid', async () => {
    const { id } = await team();
    for (const cycles of [{ weeks: 0 }, { weeks: 9 }, { ahead: 16 }, { startsOn: 'someday' }, { days: 3 }])
      expect((await send('PATCH', `/teams/${id}`, { cycles })).status).toBe(422);
    const { json, status } = await send('PATCH', `/teams/${id}`, { timeZone: 'Europe/Zagrb' });
    expect([status, json.error.details[0].path]).toEqual([422, 'timeZone']);
    expect(json.error.message).toContain('Did you mean Europe/Zagreb?');
  });
});

describe('cycles', () => {
  test('start and complete in order, once each, however many were due while the server was off', async () => {
    await moved(3 * dayMs);
    const { key } = await team({ cycles: { weeks: 1, ahead: 2 } });
    const upcoming = await cyclesOf(key);
    const work = await issue(key, upcoming[0].id);
    const from = await app.lastSequence();
    app.clock.jump(Date.parse(upcoming[1].endsAt) + 8 * dayMs - app.clock.now());
    app = await app.restart();
    await app.settled();
    const names = await emittedFor(from, key);
    expect(names).toEqual([
      'Cycle 1 started',
      'Cycle 3 created',
      'Cycle 1 completed',
      'Cycle 2 started',
      'Cycle 4 created',
      'Cycle 2 completed',
      'Cycle 3 started',
      'Cycle 5 created',
      'Cycle 3 completed',
      'Cycle 4 started',
      'Cycle 6 created',
    ]);
    expect((await get(`/issues/${work.id}`)).cycle.name).toBe('Cycle 4');
    app.clock.jump(-30 * dayMs);
    app = await app.restart();
    await app.settled();
    await moved(1_000);
    expect(await emittedFor(from, key)).toEqual(names);
    app.clock.jump(30 * dayMs);
  });

  test('follow a changed system clock while the server runs', async () => {
    const { key } = await team();
    const [first] = [await plan(key, 1, 2), await plan(key, 4, 5)];
    const work = await issue(key, first.id);
    const from = await app.lastSequence();
    app.clock.jump(3 * dayMs);
    await moved(2 * 60_000);
    expect(await emittedFor(from, key)).toEqual(['Cycle 1 started', 'Cycle 1 completed']);
    expect((await get(`/issues/${work.id}`)).cycle.number).toBe(2);
    app.clock.jump(-3 * dayMs);
    await moved(2 * 60_000);
    app.clock.jump(3 * dayMs);
    await moved(2 * 60_000);
    expect(await emittedFor(from, key)).toEqual(['Cycle 1 started', 'Cycle 1 completed']);
    await moved(dayMs);
    expect(await emittedFor(from, key)).toEqual(['Cycle 1 started', 'Cycle 1 completed', 'Cycle 2 started']);
  });

  test('do not overlap, and of two overlapping concurrent creations one is rejected', async () => {
    const { key } = await team();
    const times = { startsAt: '2033-01-01T00:00:00Z', endsAt: '2033-01-08T00:00:00Z' };
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => send('POST', '/cycles', { team: key, ...times })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422]);
    const { json } = answers.find(({ status }) => status === 422)!;
    expect(json.error.details[0]).toMatchObject({ path: 'startsAt', issue: 'conflict' });
    const apart = await Promise.all(
      [2, 3, 4].map((month) =>
        send('POST', '/cycles', {
          team: key,
          startsAt: `2033-0${month}-01T00:00:00Z`,
          endsAt: `2033-0${month}-05T00:00:00Z`,
        }),
      ),
    );
    expect(apart.map(({ json }) => json.number).sort()).toEqual([2, 3, 4]);
    for (let month = 1; month <= 8; month++) {
      const at = (day: number): string => `2034-0${month}-${day < 10 ? '0' : ''}${day}T00:00:00Z`;
      const createCycle = (from: number, to: number) =>
        send('POST', '/cycles', { team: key, startsAt: at(from), endsAt: at(to) });
      const [early, late] = [(await createCycle(1, 2)).json, (await createCycle(20, 21)).json];
      const both = await Promise.all([
        send('PATCH', `/cycles/${early.id}`, { endsAt: at(15) }),
        send('PATCH', `/cycles/${late.id}`, { startsAt: at(5) }),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 422]);
    }
  });

  test('are started and completed early by one of many concurrent requests, with one event', async () => {
    const { key } = await team();
    const first = await plan(key, 5, 10);
    const second = await plan(key, 10, 15);
    const from = await app.lastSequence();
    expect((await send('POST', `/cycles/${second.id}/start`)).status).toBe(409);
    const starts = await Promise.all([1, 2, 3].map(() => send('POST', `/cycles/${first.id}/start`)));
    expect(starts.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await send('POST', `/cycles/${second.id}/start`)).status).toBe(409);
    await moved(1_000);
    const ends = await Promise.all([1, 2, 3].map(() => send('POST', `/cycles/${first.id}/complete`)));
    expect(ends.map(({ json }) => json.status)).toEqual(['completed', 'completed', 'completed']);
    await app.settled();
    expect(await emittedFor(from, key)).toEqual(['Cycle 1 started', 'Cycle 1 completed']);
    expect((await send('PATCH', `/cycles/${first.id}`, { endsAt: '2040-01-01T00:00:00Z' })).status).toBe(422);
  });

  test('complete once when a request coincides with the timer', async () => {
    const { key } = await team();
    const first = await plan(key, 0, 1);
    await app.settled();
    const work = await issue(key, first.id);
    const from = await app.lastSequence();
    app.clock.advance(dayMs);
    await Promise.all([1, 2].map(() => send('POST', `/cycles/${first.id}/complete`)));
    await app.settled();
    expect(await emittedFor(from, key)).toEqual(['Cycle 1 completed']);
    expect((await get(`/issues/${work.id}`)).cycle).toBeNull();
    const { data } = await get(`/cycles/${first.id}/rollovers`);
    expect(data).toMatchObject([{ issue: { id: work.id, identifier: work.identifier }, to: null }]);
  });

  test('are deleted only while they are upcoming and empty', async () => {
    const { key } = await team();
    const work = await issue(key, null);
    for (let round = 1; round <= 8; round++) {
      const { id } = await plan(key, 5 * round, 5 * round + 5);
      const enter = () => send('PATCH', `/issues/${work.id}`, { cycleId: id });
      const early = round % 2 === 0 ? enter() : null;
      const [deletion, entry] = await Promise.all([send('DELETE', `/cycles/${id}`), early ?? enter()]);
      expect([
        [204, 422],
        [409, 200],
      ]).toContainEqual([deletion.status, entry.status]);
      if (entry.status === 200) expect((await send('DELETE', `/cycles/${id}`)).status).toBe(409);
    }
  });
});

describe('issues', () => {
  test('belong to an active or upcoming cycle of their team, and are found by it', async () => {
    const { key } = await team();
    const other = await team();
    const [first, second] = [await plan(key, 0, 1), await plan(key, 1, 2)];
    await app.settled();
    const foreign = await plan(other.key, 0, 1);
    const one = await issue(key, first.id);
    const two = await issue(key, second.id);
    expect((await get(`/issues/${one.id}`)).cycle).toEqual({ id: first.id, number: 1, name: 'Cycle 1' });
    const refused = await send('PATCH', `/issues/${one.id}`, { cycleId: foreign.id });
    expect([refused.status, refused.json.error.details[0].path]).toEqual([422, 'cycleId']);
    const ids = async (cycle: string): Promise<string[]> =>
      (await get(`/issues?team=${key}&cycle=${encodeURIComponent(cycle)}`)).data.map(({ id }: Json) => id);
    expect(await ids('current')).toEqual([one.id]);
    expect(await ids('next')).toEqual([two.id]);
    expect(await ids('previous')).toEqual([]);
    expect(await ids('Cycle 2')).toEqual([two.id]);
    expect(await ids(first.id)).toEqual([one.id]);
    const { data } = await get(
      `/issues?filter=${encodeURIComponent(JSON.stringify({ team: key, cycle: { nin: ['current', 'none'] } }))}`,
    );
    expect(data.map(({ id }: Json) => id)).toEqual([two.id]);
    await send('PATCH', `/issues/${one.id}`, { stateId: await stateOf(key, 'completed') });
    await moved(dayMs);
    expect(await ids('previous')).toEqual([one.id]);
    expect(await ids('current')).toEqual([two.id]);
    const late = await send('PATCH', `/issues/${two.id}`, { cycleId: first.id });
    expect(late.json.error.details[0]).toMatchObject({ path: 'cycleId', issue: 'conflict' });
    const hook = {
      url: 'https://hooks.acme.example/',
      events: ['issue.updated'],
      filter: { cycle: 'current' },
    };
    expect((await send('POST', '/webhooks', hook)).json.error.details[0].path).toBe('filter.cycle');
  });

  test('roll over to the next cycle in batches, once each and over restarts, except for moved ones', async () => {
    const { key } = await team();
    const [first, second, third] = [await plan(key, 0, 1), await plan(key, 1, 2), await plan(key, 2, 3)];
    await app.settled();
    for (let created = 0; created < 250; created += 50)
      await send('POST', '/issues/bulk', {
        issues: Array.from({ length: 50 }, () => ({ team: key, title: 'Work', cycleId: first.id })),
      });
    const all = (await get(`/issues?team=${key}&limit=100&sort=number`)).data as Json[];
    const done = all[0]!;
    await send('PATCH', `/issues/${done.id}`, { stateId: await stateOf(key, 'completed') });
    await send('DELETE', `/issues/${all[1]!.id}`);
    const from = await app.lastSequence();
    app.clock.advance(dayMs);
    // The restart interrupts the rollover, and the next process completes it.
    for (let starts = 0; starts < 3; starts++) app = await app.restart();
    await send('PATCH', `/issues/${all[2]!.id}`, { cycleId: third.id });
    await app.settled();
    expect(await emittedFor(from, key)).toEqual(['Cycle 1 completed', 'Cycle 2 started']);
    const inFirst = (await get(`/issues?cycle=${first.id}`)).data.map(({ id }: Json) => id);
    expect(inFirst).toEqual([done.id]);
    expect((await get(`/issues/${all[2]!.id}`)).cycle.id).toBe(third.id);
    const changes = (await events(from, 'issue.updated')).filter(
      ({ data }) => data.previous.cycle?.id === first.id,
    );
    expect(new Set(changes.map(({ data }) => data.id)).size).toBe(changes.length);
    expect(changes).toHaveLength(248);
    const rolled: Json[] = [];
    for (let after = ''; ;) {
      const page = await get(`/cycles/${first.id}/rollovers?limit=100${after}`);
      rolled.push(...page.data);
      if (!page.pageInfo.hasNextPage) break;
      after = `&after=${page.pageInfo.endCursor}`;
    }
    expect(new Set(rolled.map((one) => one.issue.id)).size).toBe(rolled.length);
    expect([247, 248]).toContain(rolled.length);
    expect(rolled.every(({ to }) => to.id === second.id)).toBe(true);
    await send('POST', `/issues/${all[1]!.id}/restore`);
    expect((await get(`/issues/${all[1]!.id}`)).cycle).toBeNull();
  });

  test('stay in place in a team without rollover', async () => {
    const { key } = await team({ cycles: { weeks: 1, rollsOver: false } });
    const [first] = await cyclesOf(key);
    const work = await issue(key, first.id);
    await until(first.endsAt);
    expect((await get(`/issues/${work.id}`)).cycle.id).toBe(first.id);
  });
});
