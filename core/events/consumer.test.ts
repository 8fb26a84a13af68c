// Consumers on a real store: each event is planned once, however many workspaces have some.
import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../store/open-store.ts';
import { scopeOf, type Scope } from '../store/store.ts';
import { appendEvent } from './append.ts';
import { createConsumer } from './consumer.ts';
import { placesMax } from './cursors.ts';
import { createWorkQueue } from './work.ts';

let cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.toReversed()) await clean();
  cleanUp = [];
});

const idOf = (index: number): string => `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;

test('each event makes its work once, in more workspaces than have their place remembered', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-consumer-'));
  const { store, close } = openStore(dir, () => 0);
  cleanUp.push(() => rmSync(dir, { recursive: true }), close);
  const clock = { nowMs: () => 0, monotonicMs: () => 0, after: () => () => undefined };
  const log = (): undefined => undefined;
  const performed: string[] = [];
  const queue = createWorkQueue({
    store,
    clock,
    log,
    kind: 'test',
    owner: 'me',
    room: 4_000,
    async perform(item) {
      performed.push(item.id);
      await store.commit([queue.finish(item)]);
    },
  });
  const consumer = createConsumer({
    store,
    log,
    name: 'test',
    listens: () => Promise.resolve(true),
    plan: (scope, events) =>
      Promise.resolve({ ops: events.map(({ id }) => queue.add(scope, 'plg_1', `work of ${id}`, 0)) }),
  });
  cleanUp.push(queue.stop, consumer.stop);
  const scopes = Array.from({ length: placesMax + 50 }, (_, index) => scopeOf(idOf(index)));
  const append = (scope: Scope, id: string) =>
    appendEvent(
      scope,
      {
        id,
        type: 'label.created',
        workspaceId: scope.workspaceId,
        createdAt: 0,
        entityKind: 'label',
        entityId: 'lbl_1',
        subjectId: null,
        learnsOf: null,
        actor: { kind: 'system', id: 'test', name: 'Test' },
        cause: { rootEventId: id, parentRunId: null, depth: 0, path: [] },
        requestId: null,
        traceparent: null,
        data: {},
      },
      new Map(),
    );
  const expected: string[] = [];
  for (const round of [1, 2]) {
    const ids = scopes.map((_, index) => `evt_${round}_${index}`);
    await store.commit(scopes.map((scope, index) => append(scope, ids[index]!)));
    await consumer.settled();
    await queue.settled();
    expected.push(...ids.map((id) => `work of ${id}`));
    expect(performed.toSorted()).toEqual(expected.toSorted());
  }
});
