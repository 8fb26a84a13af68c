import { expect, test } from 'bun:test';
import type { FromSidecar, RunEnd, RunLimits } from '../protocol.ts';
import { GuestFault } from './meter.ts';
import type { GuestCaller } from './entries.ts';
import { GuestRun } from './run.ts';

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

/** Starts a run whose guest has logged a line and executes until `dispose` is called. */
function begin() {
  let caller: GuestCaller | undefined;
  const said: FromSidecar[] = [];
  const ends: RunEnd[] = [];
  const enter = (entering: GuestCaller): void => {
    entering.takeOps();
    caller = entering;
  };
  const run = new GuestRun({
    run: 'a nonce',
    guest: { isolate: { cpuMs: 0 }, limitsText: '', enter },
    limits,
    mayBlock: true,
    send: (message) => void said.push(message),
    ready: (waiting) => waiting.enter(),
    offer: () => undefined,
    finish: (end) => void ends.push(end),
    close: () => undefined,
  });
  run.start('event:issue.created', '{}');
  const dispose = (): void => {
    const fault = new GuestFault('disposed', 'Isolate was disposed during execution');
    fault.lastWords = '["info","still here"]';
    caller?.failed(fault);
  };
  return { run, said, ends, dispose };
}

test('the last log lines of a guest that is ended from within are delivered', () => {
  const { said, ends, dispose } = begin();
  dispose();
  expect(said).toMatchObject([
    { t: 'drained', acked: 1, said: { heads: '["l","info",10]', texts: 'still here' } },
  ]);
  expect(ends).toEqual([{ status: 'stopped' }]);
});

test('output of a guest after its run was ended from outside is dropped', () => {
  const { run, said, ends, dispose } = begin();
  run.end({ status: 'stopped' });
  dispose();
  expect(said).toEqual([]);
  expect(ends).toEqual([{ status: 'stopped' }]);
});
