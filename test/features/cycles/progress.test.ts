import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createClock, startApp, type Json, type TestApp } from '../../app.ts';
import { randomOf } from '../../random.ts';

const v1 = '/api/v1';
const hourMs = 3_600_000;
const seed = 20_261_122;
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ clock: createClock(Date.parse('2027-10-28T15:00:00Z')) });
});
afterAll(() => app.stop());

const get = async (path: string): Promise<Json> => (await app.call('GET', v1 + path)).json;
const ok = async (method: string, path: string, body?: unknown): Promise<Json> => {
  const { status, json, text } = await app.call(method, v1 + path, body);
  expect([path, status < 300, text]).toEqual([path, true, text]);
  return json;
};

interface Modelled {
  cycle: string | null;
  type: string;
  estimate: number | null;
  isDeleted: boolean;
}

test(`the progress of a cycle equals the count of a model (seed ${seed})`, async () => {
  const random = randomOf(seed).next;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const { id: teamId } = (await get('/teams')).data[0];
  // The night of the change to winter time in New York is included.
  await ok('PATCH', `/teams/${teamId}`, { timeZone: 'America/New_York' });
  const spans = [
    ['2027-10-29T04:00:00Z', '2027-11-03T04:00:00Z'],
    ['2027-11-03T04:00:00Z', '2027-11-08T05:00:00Z'],
  ];
  const cycles: Json[] = [];
  for (const [startsAt, endsAt] of spans)
    cycles.push(await ok('POST', '/cycles', { team: 'ENG', startsAt, endsAt }));
  const states = (await get('/workflows?team=ENG')).data as Json[];
  const started = states.find(({ type }) => type === 'started')!;
  const issues = new Map<string, Modelled>();
  const dayOf = (ms: number): string =>
    new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(ms);
  const days = new Map<string, Map<string, object>>(cycles.map(({ id }) => [id, new Map()]));
  const sum = (some: Modelled[]): number =>
    Math.round(some.reduce((all, { estimate }) => all + (estimate ?? 0), 0) * 1e6) / 1e6;
  const note = (cycle: Json, day: string): void => {
    const inIt = [...issues.values()].filter((one) => one.cycle === cycle.id && !one.isDeleted);
    const of = (...types: string[]): Modelled[] => inIt.filter(({ type }) => types.includes(type));
    const counted = [inIt, of('started'), of('completed'), of('canceled', 'duplicate')];
    const countsOf = (values: number[]): object => ({
      ...{ scope: values[0], started: values[1], completed: values[2], canceled: values[3] },
    });
    days.get(cycle.id)!.set(day, {
      day,
      issues: countsOf(counted.map((some) => some.length)),
      points: countsOf(counted.map(sum)),
    });
  };

  const act = async (): Promise<void> => {
    const open = cycles.filter(({ endsAt }) => Date.parse(endsAt) > app.clock.now());
    const cycleId = random() < 0.2 ? null : (pick(open)?.id ?? null);
    const estimate = random() < 0.3 ? null : pick([0.1, 0.2, 1, 2, 3, 5]);
    if (issues.size < 5 || random() < 0.15) {
      const created = await ok('POST', '/issues', { team: 'ENG', title: 'Work', cycleId, estimate });
      issues.set(created.id, { cycle: cycleId, type: 'backlog', estimate, isDeleted: false });
      return;
    }
    const [id, one] = pick([...issues]);
    if (one.isDeleted) {
      const { cycle } = await ok('POST', `/issues/${id}/restore`);
      Object.assign(one, { isDeleted: false, cycle: cycle?.id ?? null });
    } else if (random() < 0.1) {
      await ok('DELETE', `/issues/${id}`);
      one.isDeleted = true;
    } else if (random() < 0.5) {
      const state = random() < 0.3 ? started : pick(states);
      await ok('PATCH', `/issues/${id}`, { stateId: state.id });
      one.type = state.type;
    } else {
      await ok('PATCH', `/issues/${id}`, { cycleId, estimate, description: `At ${app.clock.now()}` });
      Object.assign(one, { cycle: cycleId, estimate });
    }
  };

  const isFinished = ({ type }: Modelled): boolean => ['completed', 'canceled', 'duplicate'].includes(type);
  const end = Date.parse('2027-11-09T12:00:00Z');
  while (app.clock.now() < end) {
    const now = app.clock.now();
    const next = Math.min(end, now + Math.ceil(random() * 9) * hourMs);
    // The ends of days and cycles are recorded before the clock moves on.
    for (let at = now + hourMs; at <= next; at += hourMs) {
      for (const [index, cycle] of cycles.entries()) {
        const [from, to] = [Date.parse(cycle.startsAt), Date.parse(cycle.endsAt)];
        if (at > from && at - hourMs < to) note(cycle, dayOf(Math.max(from, at - hourMs)));
        if (at >= to && at - hourMs < to)
          for (const one of issues.values())
            if (one.cycle === cycle.id && !one.isDeleted && !isFinished(one))
              one.cycle = cycles[index + 1]?.id ?? null;
      }
    }
    app.clock.advance(next - now);
    await app.settled();
    if (random() < 0.05) app = await app.restart();
    for (let acts = Math.floor(random() * 6); acts > 0; acts--) await act();
  }
  const reportedDays: Json[] = [];
  for (const cycle of cycles) {
    const progress = await get(`/cycles/${cycle.id}/progress`);
    expect(progress.timeZone).toBe('America/New_York');
    expect(progress.days).toEqual([...days.get(cycle.id)!.values()]);
    expect(progress.days).toHaveLength(5);
    reportedDays.push(...progress.days);
  }
  // The model saw every change.
  for (const what of ['scope', 'started', 'completed', 'canceled'])
    expect([what, reportedDays.some(({ points }) => points[what] > 0)]).toEqual([what, true]);
});

test('an upcoming cycle has no progress, and an active one has it up to now', async () => {
  const at = (hours: number): string => new Date(app.clock.now() + hours * hourMs).toISOString();
  const cycle = await ok('POST', '/cycles', { team: 'ENG', startsAt: at(1), endsAt: at(100) });
  expect((await get(`/cycles/${cycle.id}/progress`)).days).toEqual([]);
  await ok('POST', '/issues', { team: 'ENG', title: 'Work', cycleId: cycle.id, estimate: 3 });
  app.clock.advance(2 * hourMs);
  await app.settled();
  const { days } = await get(`/cycles/${cycle.id}/progress`);
  expect(days).toHaveLength(1);
  expect(days[0]).toMatchObject({
    issues: { scope: 1, started: 0, completed: 0, canceled: 0 },
    points: { scope: 3 },
  });
});
