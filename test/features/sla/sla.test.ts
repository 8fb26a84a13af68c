import { beforeEach, describe, expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { hourMs, slaOfFile } from './setting.ts';

const { sla, policy } = await slaOfFile();
const iso = (ms: number): string => new Date(ms).toISOString();
const now = (): number => sla.app.clock.now();

describe('around the clock', () => {
  test('warns, breaches and is met late, each once and at its exact minute', async () => {
    const { id, name } = await policy({ atRiskMinutes: 60 });
    const at = now();
    const issue = await sla.file({ assigneeId: (await sla.app.call('GET', '/api/v1/me')).json.member.id });
    expect(issue).toMatchObject({ slaDueAt: iso(at + 4 * hourMs), version: 1 });
    await sla.pass(3 * hourMs - 1);
    expect(await sla.eventTypes(issue)).toEqual(['started']);
    await sla.pass(1);
    expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk']);
    await sla.pass(hourMs - 1);
    expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk']);
    await sla.pass(1);
    expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk', 'breached']);
    await sla.pass(24 * hourMs);
    await sla.move(issue, 'completed');
    expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk', 'breached', 'reached_late']);
    expect(await sla.clocks(issue)).toEqual([
      expect.objectContaining({
        kind: 'resolution',
        state: 'breached',
        policy: { id, name },
        issue: { id: issue.id, identifier: issue.identifier, title: issue.title },
        team: issue.team,
        assignee: issue.assignee,
        startedAt: iso(at),
        dueAt: iso(at + 4 * hourMs),
        atRiskAt: iso(at + 3 * hourMs),
        reachedAt: iso(now()),
        endedAt: iso(now()),
      }),
    ]);
    expect(await sla.dueAt(issue)).toBe(null);
  });

  test('is met when the issue completes in time, and restarts when the issue is reopened', async () => {
    await policy({});
    const issue = await sla.file();
    await sla.pass(hourMs);
    await sla.move(issue, 'completed');
    await sla.pass(24 * hourMs);
    expect(await sla.eventTypes(issue)).toEqual(['started', 'met']);
    await sla.move(issue, 'started');
    expect(await sla.dueAt(issue)).toBe(iso(now() + 4 * hourMs));
    await sla.app.call('DELETE', `/api/v1/issues/${issue.id}`);
    await sla.app.settled();
    expect(await sla.eventTypes(issue)).toEqual(['started', 'met', 'started', 'canceled']);
  });

  test('pauses in the pausing states', async () => {
    await policy({ atRiskMinutes: 60, pausedIn: ['triage', 'backlog'] });
    const issue = await sla.file();
    expect(await sla.clocks(issue)).toMatchObject([
      { state: 'paused', remainingMs: 4 * hourMs, dueAt: null },
    ]);
    await sla.pass(100 * hourMs);
    await sla.move(issue, 'started');
    expect(await sla.dueAt(issue)).toBe(iso(now() + 4 * hourMs));
    await sla.pass(3.5 * hourMs);
    await sla.move(issue, 'backlog');
    expect(await sla.clocks(issue)).toMatchObject([{ state: 'paused', remainingMs: 0.5 * hourMs }]);
    expect(await sla.dueAt(issue)).toBe(null);
    await sla.pass(100 * hourMs);
    await sla.move(issue, 'started');
    await sla.pass(0.5 * hourMs);
    expect(await sla.eventTypes(issue)).toEqual([
      'started',
      'resumed',
      'at_risk',
      'paused',
      'resumed',
      'breached',
    ]);
  });
});

describe('by a calendar', () => {
  const office = async (): Promise<Json> => {
    const day = [{ from: '09:00', to: '17:00' }];
    const hours = { monday: day, tuesday: day, wednesday: day, thursday: day, friday: day };
    return sla.make('/calendars', {
      ...{ name: 'Office', timeZone: 'America/New_York', hours },
      holidays: ['2027-03-12', '2027-07-05'],
    });
  };

  test('skips weekends, holidays and the change to summer time', async () => {
    await policy({ targetMinutes: 3 * 60, calendarId: (await office()).id });
    // A Thursday, 16:00 in winter. Friday is a holiday and the clocks change on Sunday, so four work hours
    // later is Monday 11:00 in summer time.
    await sla.until('2027-03-11T21:00:00Z');
    const issue = await sla.file();
    expect(await sla.dueAt(issue)).toBe('2027-03-15T15:00:00.000Z');
    await sla.until('2027-03-15T14:59:59.999Z');
    expect(await sla.eventTypes(issue)).toEqual(['started']);
    await sla.pass(1);
    expect(await sla.eventTypes(issue)).toEqual(['started', 'breached']);
  });

  test('counts the repeated hour at the end of summer time once per occurrence', async () => {
    const nights = await sla.make('/calendars', {
      ...{
        name: 'Nights',
        timeZone: 'America/New_York',
        hours: { sunday: [{ from: '00:00', to: '08:00' }] },
      },
    });
    await policy({ targetMinutes: 9 * 60, calendarId: nights.id });
    await sla.until('2027-11-06T12:00:00Z');
    const issue = await sla.file();
    // From midnight in summer time to eight in winter time there are nine hours.
    expect(await sla.dueAt(issue)).toBe('2027-11-07T13:00:00.000Z');
    await sla.until('2027-11-07T13:00:00Z');
    expect(await sla.eventTypes(issue)).toEqual(['started', 'breached']);
  });
});

describe('exactly once', () => {
  let issues: Json[];
  beforeEach(async () => {
    await policy({ atRiskMinutes: 60 });
    issues = [await sla.file(), await sla.file()];
  });

  test('after a restart that misses the warning and the end', async () => {
    const { clock } = sla.app;
    const restarted = sla.app.restart();
    clock.advance(5 * hourMs);
    sla.app = await restarted;
    await sla.app.settled();
    for (const issue of issues)
      expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk', 'breached']);
    sla.app = await sla.app.restart();
    await sla.app.settled();
    for (const issue of issues)
      expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk', 'breached']);
  });

  test('after the system clock jumps forward past several times, and back', async () => {
    sla.app.clock.jump(10 * hourMs);
    await sla.app.settled();
    for (const issue of issues)
      expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk', 'breached']);
    sla.app.clock.jump(-10 * hourMs);
    await sla.pass(12 * hourMs);
    for (const issue of issues)
      expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk', 'breached']);
  });

  test('after the system clock jumps back before the due time', async () => {
    const [issue] = issues;
    await sla.pass(2 * hourMs);
    sla.app.clock.jump(-hourMs);
    await sla.pass(2 * hourMs - 1);
    expect(await sla.eventTypes(issue)).toEqual(['started']);
    await sla.pass(1);
    expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk']);
    sla.app.clock.jump(hourMs);
    await sla.app.settled();
    expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk', 'breached']);
  });
});

describe('a change in time meets the target, whichever consumer handles it first', () => {
  /** Blocks the next reader that runs a statement; `isHeld` resolves once the reader waits. */
  const blockRead = (
    reads: 'read' | 'readOne',
    name: string,
  ): { isBlocked: Promise<void>; release(): void } => {
    const { store } = sla.app.services;
    const own: unknown = store[reads];
    const read = own as typeof store.read;
    const [blocked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const waits: typeof store.read = async (scope, statement, params) => {
      if (statement.name === name) {
        Object.assign(store, { [reads]: own });
        blocked.resolve();
        await released.promise;
      }
      return read(scope, statement, params);
    };
    Object.assign(store, { [reads]: waits });
    return { isBlocked: blocked.promise, release: released.resolve };
  };
  /** Blocks the reaction at its next read of the clocks of an issue. */
  const holdReaction = () => blockRead('read', 'sla_clocks.of_issue_at');

  test('a timer that fires before the reaction has processed an event reads the log', async () => {
    await policy({});
    const issue = await sla.file();
    await sla.pass(4 * hourMs - 1);
    const reaction = holdReaction();
    const completed = sla.app.call('PATCH', `/api/v1/issues/${issue.id}`, {
      stateId: await stateOf('completed'),
    });
    await Promise.all([completed, reaction.isBlocked]);
    sla.app.clock.advance(1);
    while ((await sla.eventTypes(issue)).length < 2);
    reaction.release();
    await sla.app.settled();
    expect(await sla.eventTypes(issue)).toEqual(['started', 'met']);
    expect(await sla.clocks(issue)).toMatchObject([{ state: 'met', reachedAt: iso(now() - 1) }]);
  });

  test('a write between the read of the log and the commit rolls the commit back', async () => {
    await policy({});
    const issue = await sla.file();
    const stateId = await stateOf('completed');
    await sla.pass(4 * hourMs - 1);
    const { store } = sla.app.services;
    const { commit } = store;
    const reaction = holdReaction();
    const written = Promise.withResolvers<void>();
    store.commit = async (ops, options) => {
      if (
        ops.some(
          ({ statement, params }) => statement.sql.includes('sla_clocks SET') && params.state === 'breached',
        )
      ) {
        store.commit = commit;
        await sla.app.call('PATCH', `/api/v1/issues/${issue.id}`, { stateId });
        written.resolve();
      }
      return commit(ops, options);
    };
    sla.app.clock.advance(1);
    await Promise.all([written.promise, reaction.isBlocked]);
    while ((await sla.eventTypes(issue)).length < 2);
    reaction.release();
    await sla.app.settled();
    expect(await sla.eventTypes(issue)).toEqual(['started', 'met']);
  });

  test('a reaction that runs before a late timer first records the breach', async () => {
    await policy({ atRiskMinutes: 60 });
    const issue = await sla.file();
    const timer = blockRead('readOne', 'sla_clocks.find');
    sla.app.clock.advance(5 * hourMs);
    await timer.isBlocked;
    await sla.app.call('PATCH', `/api/v1/issues/${issue.id}`, { stateId: await stateOf('completed') });
    while ((await sla.eventTypes(issue)).length < 4);
    timer.release();
    await sla.app.settled();
    expect(await sla.eventTypes(issue)).toEqual(['started', 'at_risk', 'breached', 'reached_late']);
  });
});

async function stateOf(type: string): Promise<string> {
  const { json } = await sla.app.call('GET', '/api/v1/workflows?team=ENG');
  return json.data.find((state: Json) => state.type === type).id;
}
