// Isolation: concurrent runs and requests have the result of some sequential order. The same interleavings under
// `isolation: 'none'` break this, which proves that the check detects violations.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { ownCalls } from '../../../core/features/plugins/host-calls/bridge.ts';
import type { GuestCall } from '../../../core/features/plugins/host-calls/gateway.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { randomOf } from '../../random.ts';
import { handler, type Program, type Read } from './isolation-program.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

type Isolation = 'serializable' | 'none';
const names = ['one', 'two'] as const;
type Name = (typeof names)[number];

let app: TestApp;
const installs = new Map<string, Json>();

/** A host call that blocks: runs that have read wait there for each other. */
const kvGet = ownCalls.get('kv.get')!;
let atGate: () => Promise<void> = async () => undefined;
const gated: GuestCall = {
  ...kvGet,
  async answer(call, args) {
    if (args[0] !== 'gate') return kvGet.answer(call, args);
    await atGate();
    return 'null';
  },
};

/** Opens after `then` once `runs` callers have arrived; later callers pass. */
function barrier(runs: number, then: () => Promise<unknown> = async () => undefined): void {
  let come = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  atGate = async () => {
    if (++come === runs) await then().finally(resolve);
    await promise;
  };
}

beforeAll(async () => {
  (ownCalls as Map<string, GuestCall>).set('kv.get', gated);
  app = await startApp();
  for (const isolation of ['serializable', 'none'] as const)
    for (const name of names)
      installs.set(
        `${isolation} ${name}`,
        await install(
          app.call,
          await packSource(`{
            id: 'test.${isolation}.${name}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
            ${isolation === 'none' ? "isolation: 'none'," : ''}
            on: { 'issue.created': { filter: { title: '${isolation}' }, handle: ${handler(name)} } },
          }`),
        ),
      );
});
afterEach(() => void (atGate = async () => undefined));
afterAll(async () => {
  (ownCalls as Map<string, GuestCall>).set('kv.get', kvGet);
  await app.stop();
});

async function make(body: object): Promise<Json> {
  const { status, json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'a', ...body });
  expect(status).toBe(201);
  return json;
}

/** Runs these programs to completion. */
async function perform(isolation: Isolation, programs: Partial<Record<Name, Program>>): Promise<void> {
  await make({ title: isolation, description: JSON.stringify(programs) });
  await app.settled();
}

const urgentOf = async (id: string): Promise<boolean> =>
  (await app.call('GET', `/api/v1/issues/${id}`)).json.priority === 'urgent';
const urgentUnder = async (root: string): Promise<number> =>
  (await app.call('GET', `/api/v1/issues?parent=${root}&priority=urgent&limit=100`)).json.data.length;

/** The invariant breaks under `none` and holds under `serializable`. */
function holds(name: string, play: (isolation: Isolation) => Promise<boolean>): void {
  describe(name, () => {
    test('is prevented by serializable isolation', async () => expect(await play('serializable')).toBe(true));
    test('occurs without isolation', async () => expect(await play('none')).toBe(false));
  });
}

holds('write skew on two urgent issues', async (isolation) => {
  const [x, y] = [await make({ priority: 'urgent' }), await make({ priority: 'urgent' })];
  const reads: Read[] = [
    { by: 'id', of: x.id },
    { by: 'identifier', of: y.identifier },
  ];
  barrier(2);
  await perform(isolation, {
    one: { reads, writesIf: { atLeast: 2 }, write: { update: x.id, to: 'low' } },
    two: { reads, writesIf: { atLeast: 2 }, write: { update: y.id, to: 'low' } },
  });
  return (await urgentOf(x.id)) || (await urgentOf(y.id));
});

holds('write skew on two halves of a list', async (isolation) => {
  const root = await make({});
  const [x, y] = [
    await make({ priority: 'urgent', parentId: root.id }),
    await make({ priority: 'urgent', parentId: root.id }),
  ];
  const reads: Read[] = [{ by: 'page', of: root.id }];
  barrier(2);
  await perform(isolation, {
    one: { reads, writesIf: { atLeast: 2 }, write: { update: x.id, to: 'low' } },
    two: { reads, writesIf: { atLeast: 2 }, write: { update: y.id, to: 'low' } },
  });
  return (await urgentUnder(root.id)) === 1;
});

holds('a phantom in a list', async (isolation) => {
  const root = await make({});
  await make({ priority: 'urgent', parentId: root.id });
  const program: Program = {
    reads: [{ by: 'list', of: root.id }],
    writesIf: { atMost: 1 },
    write: { createUnder: root.id },
  };
  barrier(2);
  await perform(isolation, { one: program, two: program });
  return (await urgentUnder(root.id)) === 2;
});

holds('a stale read of an issue that a request changes', async (isolation) => {
  const root = await make({});
  const [x, y] = [await make({ parentId: root.id }), await make({ priority: 'low', parentId: root.id })];
  barrier(1, () => app.call('PATCH', `/api/v1/issues/${x.id}`, { priority: 'urgent' }));
  await perform(isolation, {
    one: {
      reads: [{ by: 'list', of: root.id }],
      writesIf: { atMost: 0 },
      write: { update: y.id, to: 'urgent' },
    },
  });
  return (await urgentUnder(root.id)) === 1;
});

holds('a stale read of a missing issue that is created', async (isolation) => {
  const { identifier } = await make({});
  const next = identifier.replace(/\d+$/, (number: string) => String(Number(number) + 3));
  const y = await make({ priority: 'low' });
  // The trigger takes the number before it.
  barrier(1, () => make({ priority: 'urgent' }));
  await perform(isolation, {
    one: {
      reads: [{ by: 'identifier', of: next }],
      writesIf: { atMost: 0 },
      write: { update: y.id, to: 'urgent' },
    },
  });
  expect(await urgentOf(next)).toBe(true);
  return !(await urgentOf(y.id));
});

holds('a stale read of an issue that is deleted', async (isolation) => {
  const [x, y] = [await make({ priority: 'urgent' }), await make({ priority: 'low' })];
  barrier(1, () => app.call('DELETE', `/api/v1/issues/${x.id}`));
  await perform(isolation, {
    one: {
      reads: [{ by: 'id', of: x.id }],
      writesIf: { atLeast: 1 },
      write: { update: y.id, to: 'urgent' },
    },
  });
  return !(await urgentOf(y.id));
});

for (const by of ['kv', 'keys'] as const)
  holds(`a stale read by ${by} of a value that is written`, async (isolation) => {
    const { id } = installs.get(`${isolation} one`)!;
    const y = await make({ priority: 'low' });
    const key = `${by}-flag`;
    barrier(1, () => app.call('PUT', `/api/v1/plugins/${id}/kv/${key}`, { value: 'urgent' }));
    await perform(isolation, {
      one: { reads: [{ by, of: key }], writesIf: { atMost: 0 }, write: { update: y.id, to: 'urgent' } },
    });
    return !(await urgentOf(y.id));
  });

holds('a stale read of issues whose label is renamed', async (isolation) => {
  const label = (await app.call('POST', '/api/v1/labels', { name: `was-${isolation}`, color: '#d73a4a' }))
    .json;
  const [x, y] = [await make({ labels: [label.id] }), await make({ priority: 'low' })];
  let attempts = 0;
  const rename = () => app.call('PATCH', `/api/v1/labels/${label.id}`, { name: `is-${isolation}` });
  barrier(1, rename);
  const open = atGate;
  atGate = () => (attempts++, open());
  await perform(isolation, {
    one: { reads: [{ by: 'id', of: x.id }], writesIf: {}, write: { update: y.id, to: 'urgent' } },
  });
  expect(await urgentOf(y.id)).toBe(true);
  return attempts === 2;
});

test('no update is lost under any isolation', async () => {
  for (const isolation of ['serializable', 'none'] as const) {
    const x = await make({ priority: 'low' });
    barrier(1, () => app.call('PATCH', `/api/v1/issues/${x.id}`, { title: 'changed' }));
    await perform(isolation, {
      one: { reads: [], writesIf: {}, write: { update: x.id, to: 'urgent' } },
    });
    const { json } = await app.call('GET', `/api/v1/issues/${x.id}`);
    expect([json.priority, json.title]).toEqual(['urgent', 'changed']);
  }
});

test('a change of unrelated objects is no conflict, and the handler runs once', async () => {
  const root = await make({});
  const [x, y] = [
    await make({ priority: 'urgent', parentId: root.id }),
    await make({ priority: 'low', parentId: root.id }),
  ];
  let attempts = 0;
  barrier(1, async () => {
    const other = await make({ priority: 'urgent' });
    await app.call('POST', `/api/v1/issues/${other.id}/comments`, { body: 'hello' });
    await app.call('PATCH', `/api/v1/issues/${other.id}`, { priority: 'low' });
  });
  const open = atGate;
  atGate = () => (attempts++, open());
  const reads: Read[] = [
    { by: 'id', of: x.id },
    { by: 'list', of: root.id },
  ];
  await perform('serializable', { one: { reads, writesIf: {}, write: { update: y.id, to: 'urgent' } } });
  expect(attempts).toBe(1);
  expect(await urgentUnder(root.id)).toBe(2);
});

test('a run with repeated conflicts is retried later, and succeeds', async () => {
  const [x, y] = [await make({ priority: 'urgent' }), await make({ priority: 'low' })];
  let others = 0;
  atGate = async () => {
    if (others++ < 6) await app.call('PATCH', `/api/v1/issues/${x.id}`, { title: `moved ${others}` });
  };
  await perform('serializable', {
    one: { reads: [{ by: 'id', of: x.id }], writesIf: {}, write: { update: y.id, to: 'urgent' } },
  });
  const { id } = installs.get('serializable one')!;
  const runs = async (): Promise<Json> =>
    (await app.call('GET', `/api/v1/plugins/${id}/runs?limit=5`)).json.data[0];
  expect(await runs()).toMatchObject({ status: 'retrying', error: { code: 'conflict' } });
  expect(await urgentOf(y.id)).toBe(false);
  app.clock.advance(60_000);
  await app.settled();
  expect(await runs()).toMatchObject({ status: 'succeeded' });
  expect(await urgentOf(y.id)).toBe(true);
});

describe('a change of permissions during a run:', () => {
  const packed = (id: string, scopes: string) =>
    packSource(`{
      id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${scopes},
      on: { 'issue.created': { filter: { title: '${id}' }, async handle(event, ctx) {
        await ctx.kv.get('gate');
        await ctx.issues.update(event.data.id, { priority: 'urgent' });
      } } },
    }`);

  test('a run of an uninstalled plugin writes nothing', async () => {
    const { id } = await install(app.call, await packed('test.uninstalled', allTrackerScopes));
    barrier(1, () => app.call('DELETE', `/api/v1/plugins/${id}`));
    const issue = await make({ title: 'test.uninstalled' });
    await app.settled();
    expect(await urgentOf(issue.id)).toBe(false);
  });

  test('a run of a plugin with a reduced grant writes nothing', async () => {
    const document = await packed('test.narrowed', allTrackerScopes);
    const { id } = await install(app.call, document);
    barrier(1, () => app.call('POST', '/api/v1/plugins', { package: document, grant: ['comments:write'] }));
    const issue = await make({ title: 'test.narrowed' });
    await app.settled();
    expect(await urgentOf(issue.id)).toBe(false);
    const [run] = (await app.call('GET', `/api/v1/plugins/${id}/runs`)).json.data;
    expect(run.status).not.toBe('succeeded');
  });
});

describe('property: two runs and a request have the result of some sequential order', () => {
  const seeds = process.env.TATAMI_LONG ? 300 : 8;
  const first = Number(process.env.TATAMI_SEED ?? 1);

  /** One random world: three issues below a root, two programs, and a concurrent request. */
  const play = async (isolation: Isolation, seed: number): Promise<boolean> => {
    const below = randomOf(seed * 2_654_435_761).next;
    const pick = <T>(all: readonly T[]): T => all[Math.floor(below() * all.length)]!;
    const root = await make({});
    const issues: Json[] = [];
    /** Both programs maintain the same invariant, so that either write may break it for the other. */
    const isFew = pick([true, false]);
    const urgent = isFew ? 1 : pick([2, 2, 3]);
    for (let i = 0; i < 3; i++)
      issues.push(await make({ parentId: root.id, priority: i < urgent ? 'urgent' : 'low' }));
    const program = (): Program => ({
      reads: [
        pick([
          { by: 'list', of: root.id },
          { by: 'page', of: root.id },
        ] as const),
        ...pick([[], [{ by: 'identifier', of: pick(issues).identifier }]] as const),
      ],
      writesIf: isFew ? { atMost: 1 } : { atLeast: 2 },
      write: isFew
        ? pick([{ update: pick(issues).id, to: 'urgent' }, { createUnder: root.id }] as const)
        : { update: pick(issues).id, to: 'low' },
    });
    const programs = { one: program(), two: program() };
    const request = { update: pick(issues).id, to: pick(['urgent', 'low'] as const) };
    barrier(2, () => app.call('PATCH', `/api/v1/issues/${request.update}`, { priority: request.to }));
    const before = new Map<string, boolean>(issues.map(({ id, priority }) => [id, priority === 'urgent']));
    await perform(isolation, programs);
    const idsByIdentifier = new Map<string, string>(issues.map(({ id, identifier }) => [identifier, id]));
    const steps = [programs.one, programs.two, { reads: [], writesIf: {}, write: request } as Program];
    const serial = orders(steps).map((order) => {
      const world = new Map(before);
      for (const step of order) apply(world, step, idsByIdentifier);
      return stateOf(world, issues);
    });
    const after = new Map<string, boolean>();
    for (const { id } of issues) after.set(id, await urgentOf(id));
    const total = await urgentUnder(root.id);
    const createdCount = total - [...after.values()].filter(Boolean).length;
    for (let i = 0; i < createdCount; i++) after.set(`made ${i}`, true);
    const isSerial = serial.includes(stateOf(after, issues));
    if (!isSerial && isolation === 'serializable')
      console.error(`seed ${seed}`, JSON.stringify({ programs, request, before: [...before], serial }));
    return isSerial;
  };

  test(`serializable: seeds ${first} to ${first + seeds - 1}`, async () => {
    for (let seed = first; seed < first + seeds; seed++)
      expect([seed, await play('serializable', seed)]).toEqual([seed, true]);
  });

  test('none: the same check finds violations', async () => {
    let seed = first;
    while (seed < first + 10 * seeds && (await play('none', seed))) seed++;
    expect(seed).toBeLessThan(first + 10 * seeds);
  });
});

function orders<T>(all: readonly T[]): T[][] {
  if (all.length === 0) return [[]];
  return all.flatMap((one, at) => orders(all.toSpliced(at, 1)).map((rest) => [one, ...rest]));
}

/** The model: effect of a program that runs alone. */
function apply(
  world: Map<string, boolean>,
  program: Program,
  idsByIdentifier: ReadonlyMap<string, string>,
): void {
  const all = [...world.values()].filter(Boolean).length;
  const urgent = program.reads.reduce((sum, { by, of }) => {
    if (by === 'list') return sum + all;
    if (by === 'page') return sum + Math.min(all, 2);
    return sum + (world.get(idsByIdentifier.get(of) ?? of) ? 1 : 0);
  }, 0);
  const { atLeast = 0, atMost = 1000 } = program.writesIf;
  if (urgent < atLeast || urgent > atMost) return;
  const { update, to, createUnder } = program.write;
  if (update) world.set(update, to === 'urgent');
  if (createUnder) world.set(`made ${world.size}`, true);
}

function stateOf(world: ReadonlyMap<string, boolean>, issues: readonly Json[]): string {
  const createdCount = [...world.keys()].filter((key) => key.startsWith('made')).length;
  return JSON.stringify([issues.map(({ id }) => world.get(id)), createdCount]);
}
