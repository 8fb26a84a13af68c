import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoopTurns } from '../../lib/fairness/loop-turns.ts';
import { Shares } from '../../lib/fairness/shares.ts';
import { openStore } from '../../store/open-store.ts';
import { scopeOf } from '../../store/store.ts';
import { createFreshEvents } from '../fresh.ts';
import { createStreams } from './streams.ts';

test('a stream that is still being opened when all of them end, ends as well', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-streams-'));
  const { store, close } = openStore(dir, () => 0);
  let hungUp = 0;
  const streams = createStreams({
    store,
    generation: 'first',
    clock: { nowMs: () => 0, monotonicMs: () => 0, after: () => () => undefined },
    log: () => undefined,
    turns: createLoopTurns(() => undefined),
    fresh: createFreshEvents(),
    unsent: new Shares(1_000_000),
  });
  const opening = streams.open(scopeOf('00000000-0000-7000-8000-000000000001'), null, {
    tokenId: 'key_1',
    isAdmitted: () => Promise.resolve(true),
    hangUp: () => void hungUp++,
    wants: () => true,
    samples: false,
  });
  streams.stop();
  expect((await (await opening).getReader().read()).done).toBe(true);
  expect(hungUp).toBe(1);
  await close();
  rmSync(dir, { recursive: true });
});
