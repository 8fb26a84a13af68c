import { expect, test } from 'bun:test';
import { readFrame } from '../frames.ts';
import { createFrameReader, encodeFrames } from '../framing.ts';
import { callsPerFrameMax, kvTextMax } from '../protocol.ts';
import type { GuestOutbox } from './guest/bridge.ts';
import { readEnd, readOutbox, readRecorded } from './outbox.ts';

const outbox = (heads: unknown, texts: unknown = '', end: unknown = ''): GuestOutbox =>
  ({ heads, texts, end }) as GuestOutbox;

const broken: [what: string, given: GuestOutbox][] = [
  ['no text', outbox(7)],
  ['no texts', outbox('["c",1,"issues.get",2]', null)],
  ['no JSON', outbox('["c",1,"issues.get",2', '[]')],
  ['no list', outbox('{"c":1}')],
  ['a list of its own', outbox('["q",1]')],
  ['more in a head than there is', outbox('["c",1,"issues.get",2,3]', '[]')],
  ['a call without a number', outbox('["c",0,"issues.get",2]', '[]')],
  ['a call without an operation', outbox('["c",1,2,2]', '[]')],
  [
    'arguments above the limit of their operation',
    outbox('["c",1,"issues.get",300000]', 'x'.repeat(300_000)),
  ],
  ['a length below nothing', outbox('["c",1,"issues.get",3],["c",2,"issues.get",-1]', '[]')],
  ['a text that nobody claims', outbox('["c",1,"issues.get",2]', '[]]')],
  ['a level of its own', outbox('["l","panic",1]', 'x')],
  [
    'more than a frame holds',
    outbox(
      Array(callsPerFrameMax + 1)
        .fill('["l","info",0]')
        .join(),
    ),
  ],
  ['heads above the size of a head', outbox(`["l","info",0${' '.repeat(70_000)}]`)],
];

test.each(broken)('an outbox with %s is refused here, where only its run suffers', (_what, malformed) => {
  expect(() => readOutbox(malformed)).toThrow();
});

test.each(['7', '[', '["excellent"]', '["error",7]', '["done",{"done":2,"of":1}]'])(
  'an end that is %s is refused',
  (end) => expect(() => readEnd(outbox('', '', end))).toThrow(),
);

test('what is let through the core takes, in as many frames as it needs', () => {
  const args = JSON.stringify('é'.repeat(kvTextMax - 100));
  const call = (n: number): string => `["c",${n},"kv.set",${args.length}]`;
  const parts = readOutbox(outbox(`${call(1)},["l","info",2],${call(2)}`, `${args}hi${args}`));
  const frames = encodeFrames(parts.map((said) => ({ t: 'drained', run: 'A'.repeat(22), acked: 1, said })));
  const decoded: unknown[] = [];
  const bounds = { frameBytes: 3 * (kvTextMax + 1000), headBytes: 64 * 1024 };
  createFrameReader(() => bounds).push(frames, (frame) => decoded.push(readFrame(frame)));
  expect(decoded).toMatchObject([
    { calls: [[1, 'kv.set', args]], logs: [['info', 'hi']] },
    { calls: [[2, 'kv.set', args]], logs: [] },
  ]);
});

test('of a recorder that holds no lines nothing is said', () => {
  expect(readRecorded('')).toBeUndefined();
  expect(readRecorded('["info","cut of')).toBeUndefined();
  expect(readRecorded('["panic","x"]')).toBeUndefined();
});
