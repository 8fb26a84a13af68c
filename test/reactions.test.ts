// Reactions and timers run exactly once for each event and due time, despite concurrent writes, restarts and
// clock changes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Change } from '../core/kernel/changes/change.ts';
import type { Context } from '../core/kernel/context.ts';
import { createFreshEvents } from '../core/kernel/events/consumers/fresh.ts';
import { createProjections } from '../core/kernel/events/consumers/projections.ts';
import { createPositions, moveCursor } from '../core/kernel/events/consumers/positions.ts';
import { projectModel } from '../core/features/projects/index.ts';
import {
  timerOp,
  type DueTimer,
  createDueTimers,
  type DueTimers,
} from '../core/kernel/event-reactions/due-timers.ts';
import type { Reaction } from '../core/kernel/event-reactions/reaction.ts';
import { createReactions, type Reactions } from '../core/kernel/event-reactions/reactions.ts';
import { emptyDirectory } from '../core/kernel/resource/directory.ts';
import { tenantStatement } from '../core/platform/store/statement.ts';
import { scopeOf, tenantOp, type Scope } from '../core/platform/store/store.ts';
import { startApp, type Json, type TestApp } from './app.ts';

let app: TestApp;
let scope: Scope;
beforeAll(async () => {
  app = await startApp();
  scope = scopeOf(app.workspace.workspaceId);
});
afterAll(() => app.stop());

const v1 = '/api/v1';
const directoryOf = () => emptyDirectory;

/** Starts reactions as another process would, which reads the log without notifications of this one. */
function reacting(...reactions: readonly Reaction[]): Reactions {
  const { services, committer, clock } = app;
  const fresh = createFreshEvents();
  const positions = createPositions({ ...services, clock });
  const process = createReactions({ services, committer, directoryOf, fresh, positions }, reactions);
  return {
    ...process,
    async stop() {
      await process.stop();
      await positions.stop();
    },
  };
}

async function make(path: string, body: object): Promise<Json> {
  const { status, json } = await app.call('POST', `${v1}${path}`, body);
  expect([path, status]).toEqual([path, 201]);
  return json;
}

const eventsAfter = async (after: number): Promise<Json[]> =>
  (await app.call('GET', `${v1}/events?limit=100&after=${after}`)).json.data;

function newProject(ctx: Context, name: string): Change {
  const now = ctx.nowMs();
  return projectModel.create({
    ...{ id: ctx.ids.next('prj'), name, description: '', status: 'backlog' },
    ...{ health: null, leadId: null, startDate: null, targetDate: null, createdAt: now, updatedAt: now },
    ...{ members: [], icon: null, color: null, archivedAt: null, deletedAt: null },
  } as Parameters<typeof projectModel.create>[0]);
}

/** A reaction that marks each new project. */
const marking = (name: string, before = (_id: string): Promise<unknown> => Promise.resolve()): Reaction => ({
  name,
  subscribesTo: (type) => type === 'project.created',
  async react(ctx, event) {
    const project = await projectModel.find(ctx, event.entityId);
    await before(event.entityId);
    const patch = { description: `${project!.description} ${name}` };
    const change = projectModel.update(project!, patch, ctx.nowMs());
    return { changes: change ? [change] : [] };
  },
});

test('each event is processed once, also by two concurrent processes, with the reaction as actor and the event as cause', async () => {
  const since = await app.lastSequence();
  const created: Json[] = [];
  for (let n = 0; n < 30; n++) created.push(await make('/projects', { name: `Project ${n}` }));
  const processes = [reacting(marking('once')), reacting(marking('once'))];
  await Promise.all(processes.map((one) => one.start()));
  for (const one of processes) await one.settled();
  const later = reacting(marking('once'));
  await later.start();
  await later.settled();
  for (const one of [...processes, later]) await one.stop();

  for (const { id } of created) {
    const { json } = await app.call('GET', `${v1}/projects/${id}`);
    expect([json.description, json.version]).toEqual([' once', 2]);
  }
  const events = await eventsAfter(since);
  expect(events.filter(({ type }) => type === 'project.updated').length).toBe(30);
  for (const created of events.filter(({ type }) => type === 'project.created')) {
    const answer = events.find(({ type, data }) => type === 'project.updated' && data.id === created.data.id);
    expect(answer.actor).toEqual({ kind: 'system', id: 'once', name: 'Once' });
    expect(answer.cause).toEqual(created.cause);
    expect(answer.cause.rootEventId).toBe(created.id);
  }
});

test('events whose reactions change the same object are processed sequentially', async () => {
  const counter = await make('/projects', { name: 'Counter' });
  for (let n = 0; n < 12; n++) await make('/projects', { name: `Counted ${n}` });
  const one = reacting({
    name: 'counting',
    subscribesTo: (type) => type === 'project.created',
    async react(ctx, event) {
      if (!String(event.data.name).startsWith('Counted ')) return { changes: [] };
      const project = (await projectModel.find(ctx, counter.id))!;
      const change = projectModel.update(project, { description: `${project.description}+` }, ctx.nowMs());
      return { changes: change ? [change] : [] };
    },
  });
  await one.start();
  await one.settled();
  await one.stop();
  const { json } = await app.call('GET', `${v1}/projects/${counter.id}`);
  expect(json.description).toBe('+'.repeat(12));
});

test('a reaction is planned again after a concurrent change of the same object', async () => {
  const project = await make('/projects', { name: 'Contended' });
  let others = 3;
  const one = reacting(
    marking('contended', async (id) => {
      if (id === project.id && others-- > 0)
        await app.call('PATCH', `${v1}/projects/${id}`, { description: `written ${others}` });
    }),
  );
  await one.start();
  await one.settled();
  await one.stop();
  const { json } = await app.call('GET', `${v1}/projects/${project.id}`);
  expect(json.description).toBe('written 0 contended');
});

test('a failing event is logged and skipped, and later events are processed', async () => {
  const bad = await make('/projects', { name: 'Bad' });
  const good = await make('/projects', { name: 'Good' });
  const works = marking('half');
  const one = reacting({
    ...works,
    react: (ctx, event) =>
      event.entityId === bad.id ? Promise.reject(new Error('not this one')) : works.react(ctx, event),
  });
  await one.start();
  await one.settled();
  await one.stop();
  const described = async ({ id }: Json): Promise<string> =>
    (await app.call('GET', `${v1}/projects/${id}`)).json.description;
  expect([await described(bad), await described(good)]).toEqual(['', ' half']);
  expect(app.logs.filter(({ message }) => message === 'reaction to an event failed').length).toBe(1);
});

test('what several reactions write for a burst is one commit with all their positions', async () => {
  const first = await app.lastSequence();
  for (let n = 0; n < 20; n++) await make('/projects', { name: `Burst ${n}` });
  await app.settled();
  const { store } = app.services;
  const commit = store.commit.bind(store);
  const batches: string[][] = [];
  for (const name of ['joined', 'added'])
    await commit([tenantOp(scope, moveCursor, { consumer: `reaction ${name}`, from: 0, to: first })]);
  const adding = (name: string): Reaction => ({
    name,
    subscribesTo: (type) => type === 'project.created',
    react: (ctx) => Promise.resolve({ changes: [newProject(ctx, name)] }),
  });
  const both = reacting(marking('joined'), adding('added'));
  store.commit = (ops, options) => {
    batches.push(ops.map(({ statement }) => statement.name));
    return commit(ops, options);
  };
  await both.start();
  await both.settled();
  store.commit = commit;
  await both.stop();
  const writing = batches.filter((names) => names.includes('events.append'));
  expect(writing.length).toBe(1);
  expect(writing[0]!.filter((name) => name === 'cursors.move').length).toBe(2);
  expect(writing[0]!.filter((name) => name === 'events.append').length).toBe(40);
});

test('a reaction whose writes cannot be committed does not stop the others', async () => {
  const project = await make('/projects', { name: 'Beside a failure' });
  const refused = tenantStatement(
    'test.refused',
    'UPDATE cursors SET sequence = sequence WHERE workspace_id = :ws AND consumer = :none',
  );
  const failing: Reaction = {
    name: 'failing',
    subscribesTo: (type) => type === 'project.created',
    react: () =>
      Promise.resolve({ changes: [], ops: [tenantOp(scope, refused, { none: '' }, { expectRows: 1 })] }),
  };
  const both = reacting(failing, marking('beside'));
  await both.start();
  const described = async (): Promise<string> =>
    (await app.call('GET', `${v1}/projects/${project.id}`)).json.description;
  while ((await described()) !== ' beside') await new Promise((resolve) => setImmediate(resolve));
  await both.stop();
  expect(await described()).toBe(' beside');
});

test('a projection that fails does not stop the reactions', async () => {
  const project = await make('/projects', { name: 'Beside a projection' });
  const positions = createPositions({ ...app.services, clock: app.clock });
  const source = { store: app.services.store, fresh: createFreshEvents(), positions };
  const failing = createProjections(source, [
    { name: 'failing', subscribesTo: () => true, project: () => Promise.reject(new Error('not today')) },
  ]);
  const { committer } = app;
  const services = { ...app.services, projections: failing };
  const one = createReactions({ ...source, services, committer, directoryOf }, [marking('projected')]);
  await one.start();
  await one.settled();
  await one.stop();
  const { json } = await app.call('GET', `${v1}/projects/${project.id}`);
  expect(json.description).toBe(' projected');
  expect(app.logs.some(({ message }) => message === 'projection failed')).toBe(true);
});

test('a later rule does not reprocess events that had no effect', async () => {
  const project = await make('/projects', { name: 'Before the rule' });
  const nothingYet = reacting({ ...marking('rule'), react: () => Promise.resolve({ changes: [] }) });
  await nothingYet.start();
  await nothingYet.settled();
  await nothingYet.stop();
  const ruled = reacting(marking('rule'));
  await ruled.start();
  await ruled.settled();
  await ruled.stop();
  const { json } = await app.call('GET', `${v1}/projects/${project.id}`);
  expect(json.description).toBe('');
});

const hour = 3_600_000;
let processCount = 0;

/** Starts timers that create a project at each due time. */
function ringing(name: string): { timers: DueTimers } {
  const { services, committer, clock } = app;
  const timer: DueTimer = {
    name,
    isSetBy: () => false,
    fire(ctx, id) {
      return Promise.resolve({ changes: [newProject(ctx, `${name} ${id}`)] });
    },
  };
  const owner = `process ${processCount++}`;
  const timers = createDueTimers({ services, committer, clock, directoryOf, owner, seen: new Map() }, [
    timer,
  ]);
  return { timers };
}

const set = (name: string, id: string, dueAtMs: number | null): Promise<unknown> =>
  app.services.store.commit([timerOp(scope, name, id, dueAtMs)]);

async function rungBy(name: string): Promise<string[]> {
  const { json } = await app.call('GET', `${v1}/projects?limit=100`);
  return json.data
    .map((project: Json) => project.name)
    .filter((one: string) => one.startsWith(`${name} `))
    .toReversed();
}

test('a timer fires once at its due time, and a changed timer only at its new time', async () => {
  const now = app.clock.nowMs();
  await set('first', 'a', now + hour);
  await set('first', 'b', now + hour);
  await set('first', 'b', now + 2 * hour);
  await set('first', 'c', now + hour);
  await set('first', 'c', null);
  const { timers } = ringing('first');
  await timers.start();
  app.clock.advance(hour - 1);
  await timers.settled();
  expect(await rungBy('first')).toEqual([]);
  app.clock.advance(1);
  await timers.settled();
  expect(await rungBy('first')).toEqual(['first a']);
  app.clock.advance(3 * hour);
  await timers.settled();
  expect(await rungBy('first')).toEqual(['first a', 'first b']);
  await timers.stop();
  const { timers: next } = ringing('first');
  await next.start();
  await next.settled();
  await next.stop();
  expect(await rungBy('first')).toEqual(['first a', 'first b']);
});

test('an overdue timer fires at the start, and in one of two processes', async () => {
  const now = app.clock.nowMs();
  for (const id of ['a', 'b', 'c']) await set('late', id, now + hour);
  app.clock.advance(24 * hour);
  const processes = [ringing('late'), ringing('late')];
  await Promise.all(processes.map(({ timers }) => timers.start()));
  for (const { timers } of processes) await timers.settled();
  for (const { timers } of processes) await timers.stop();
  expect((await rungBy('late')).toSorted()).toEqual(['late a', 'late b', 'late c']);
});

test('due times follow changes of the system clock, and a timer fires once', async () => {
  const now = app.clock.nowMs();
  await set('jump', 'a', now + 10 * hour);
  const { timers } = ringing('jump');
  await timers.start();
  app.clock.jump(11 * hour);
  await timers.followClock();
  await timers.settled();
  expect(await rungBy('jump')).toEqual(['jump a']);
  await set('jump', 'b', app.clock.nowMs() + hour);
  app.clock.jump(-11 * hour);
  await timers.followClock();
  app.clock.advance(11 * hour);
  await timers.settled();
  expect(await rungBy('jump')).toEqual(['jump a']);
  app.clock.advance(hour);
  await timers.settled();
  expect(await rungBy('jump')).toEqual(['jump a', 'jump b']);
  await timers.stop();
});
