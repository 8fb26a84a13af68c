import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoopQueue } from '../../../platform/lib/fairness/loop-queue.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import { openStore } from '../../../platform/store/open-store.ts';
import { scopeOf } from '../../../platform/store/store.ts';
import { createFreshEvents } from '../consumers/fresh.ts';
import { createStreams } from './streams.ts';

const workspace = scopeOf('00000000-0000-7000-8000-000000000001');
const reader = {
  tokenId: 'key_1',
  memberId: 'mem_1',
  isAdmitted: () => Promise.resolve(true),
  hangUp: () => undefined,
  matches: () => true,
  samples: true,
};

function openStreams() {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-streams-'));
  const { store, close } = openStore(dir, () => 0);
  const streams = createStreams({
    store,
    generation: 'first',
    clock: { nowMs: () => 0, monotonicMs: () => 0, after: () => () => undefined },
    log: () => undefined,
    fairQueue: createLoopQueue(() => undefined),
    fresh: createFreshEvents(),
    unsent: new FairQuota(1_000_000),
  });
  return {
    streams,
    async close() {
      await close();
      rmSync(dir, { recursive: true });
    },
  };
}

test('a stream ends when its reader has lost access, without sending another event', async () => {
  const { streams, close } = openStreams();
  let admitted = true;
  const open = async (isAdmitted: () => Promise<boolean>) =>
    (await streams.open(workspace, null, { ...reader, isAdmitted })).getReader();
  const [withdrawn, other] = [await open(async () => admitted), await open(async () => true)];
  for (const one of [withdrawn, other]) expect((await one.read()).done).toBe(false);
  const ended = withdrawn.read();
  void other.read();
  // Both readers have found nothing to send by now, and wait.
  await new Promise((resolve) => setImmediate(resolve));
  admitted = false;
  streams.askAgain();
  expect((await ended).done).toBe(true);
  expect(streams.listeners(workspace.workspaceId, 'issue.created')).toBe(1);
  streams.stop();
  await close();
});

test('a stream that is being opened when all streams end is ended as well', async () => {
  const { streams, close } = openStreams();
  let hungUp = 0;
  const opening = streams.open(workspace, null, { ...reader, hangUp: () => void hungUp++ });
  streams.stop();
  expect((await (await opening).getReader().read()).done).toBe(true);
  expect(hungUp).toBe(1);
  await close();
});
