import { expect, test } from 'bun:test';
import { scopeOf } from '../../platform/store/store.ts';
import { announce } from './change.ts';
import { createWorkspaceCache, type Section } from './workspace-cache.ts';

interface Counted {
  readonly loads: number;
  readonly moves: number;
}

const scope = scopeOf('ws');
const announced = announce({ kind: 'webhook', id: 'whe_1' }, 'webhook.ping', {});
const concerning = [{ ...announced, kind: 'thing' }];
const other = [{ ...announced, kind: 'other' }];

/** Creates a section whose loads end when the test resolves them. */
function begin(move: Section<Counted>['move'] = (value) => ({ ...value, moves: value.moves + 1 })) {
  const cache = createWorkspaceCache();
  const pending: (() => void)[] = [];
  let loads = 0;
  const { of } = cache.section<Counted>({
    kinds: new Set(['thing']),
    load: () =>
      new Promise((resolve) => {
        const load = ++loads;
        pending.push(() => resolve({ loads: load, moves: 0 }));
      }),
    move,
  });
  const finish = async (): Promise<void> => {
    pending.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { cache, of, pending, finish };
}

test('a section is loaded once, and then updated by the batches that affect it', async () => {
  const { cache, of, finish } = begin();
  const first = of(scope);
  await finish();
  expect(await first).toEqual({ loads: 1, moves: 0 });
  cache.moveAlong('ws', other);
  cache.moveAlong('elsewhere', concerning);
  expect(of(scope)).toEqual({ loads: 1, moves: 0 });
  cache.moveAlong('ws', concerning);
  expect(of(scope)).toEqual({ loads: 1, moves: 1 });
});

test('a batch between the reads of a load repeats the load', async () => {
  const { cache, of, finish } = begin();
  const first = of(scope);
  cache.moveAlong('ws', concerning);
  await finish();
  await finish();
  expect(await first).toEqual({ loads: 2, moves: 0 });
});

test('a section that cannot be updated is reloaded on the next request', async () => {
  const { cache, of, finish } = begin(() => undefined);
  const first = of(scope);
  await finish();
  await first;
  cache.moveAlong('ws', concerning);
  const again = of(scope);
  await finish();
  expect(await again).toEqual({ loads: 2, moves: 0 });
});

test('the cache contains a thousand workspaces, and one evicted during its load still gets its batches', async () => {
  const { cache, of, pending, finish } = begin();
  const first = of(scope);
  const others = Array.from({ length: 1_000 }, (_, n) => of(scopeOf(`ws-${n}`)));
  const again = of(scope);
  cache.moveAlong('ws', concerning);
  while (pending.length > 0) await finish();
  expect([(await first).loads, (await again).loads]).toEqual([1_003, 1_004]);
  await Promise.all(others);
  expect(of(scopeOf('ws-999'))).not.toBeInstanceOf(Promise);
});
