import { expect, test } from 'bun:test';
import type { FromSidecar, RunEnd, RunLimits } from '../protocol.ts';
import { GuestFault } from './fault.ts';
import type { Outbox } from './guest/bridge.ts';
import { createGuestRun } from './run.ts';

const limits: RunLimits = {
  cpuMs: 100,
  entryMs: 100,
  wallMs: 1000,
  memoryMb: 32,
  calls: 100,
  concurrentCalls: 6,
  logBytes: 1000,
  logLines: 10,
  startupMs: 250,
};

/** A run whose guest is at work, having logged something, until its isolate is disposed of. */
function begin() {
  const entry = Promise.withResolvers<Outbox>();
  const said: FromSidecar[] = [];
  const ends: RunEnd[] = [];
  const run = createGuestRun({
    run: 'a nonce',
    guest: { isolate: { cpuMs: 0 }, limitsText: '', enter: () => entry.promise },
    limits,
    send: (message) => void said.push(message),
    finish: (end) => void ends.push(end),
  });
  run.start('event:issue.created', '{}');
  const dispose = async (): Promise<void> => {
    const fault = new GuestFault('disposed', 'Isolate was disposed during execution');
    fault.lastWords = '["info","still here"]';
    entry.reject(fault);
    await Bun.sleep(0);
  };
  return { run, said, ends, dispose };
}

test('a guest that is ended from within has its last words passed on', async () => {
  const { said, ends, dispose } = begin();
  await dispose();
  expect(said).toMatchObject([{ t: 'drained', logs: [['info', 'still here']] }]);
  expect(ends).toEqual([{ status: 'stopped' }]);
});

test('what a guest still says after its run was ended from outside is dropped', async () => {
  const { run, said, ends, dispose } = begin();
  run.end({ status: 'stopped' });
  await dispose();
  expect(said).toEqual([]);
  expect(ends).toEqual([{ status: 'stopped' }]);
});
