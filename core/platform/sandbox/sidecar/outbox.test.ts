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
  ['an unexpected list', outbox('["q",1]')],
  ['a head longer than its frame', outbox('["c",1,"issues.get",2,3]', '[]')],
  ['a call without a number', outbox('["c",0,"issues.get",2]', '[]')],
  ['a call without an operation', outbox('["c",1,2,2]', '[]')],
  [
    'arguments above the limit of their operation',
    outbox('["c",1,"issues.get",300000]', 'x'.repeat(300_000)),
  ],
  ['a negative length', outbox('["c",1,"issues.get",3],["c",2,"issues.get",-1]', '[]')],
  ['a text without an owner', outbox('["c",1,"issues.get",2]', '[]]')],
  ['an unknown level', outbox('["l","panic",1]', 'x')],
  [
    'more than a frame can carry',
    outbox(
      Array(callsPerFrameMax + 1)
        .fill('["l","info",0]')
        .join(),
    ),
  ],
  ['heads above the size of a head', outbox(`["l","info",0${' '.repeat(70_000)}]`)],
];

test.each(broken)('an outbox with %s is rejected here, so that only its run fails', (_what, malformed) => {
  expect(() => readOutbox(malformed)).toThrow();
});

test.each(['7', '[', '["excellent"]', '["error",7]', '["done",{"done":2,"of":1}]'])(
  'an end frame that is %s is rejected',
  (end) => expect(() => readEnd(outbox('', '', end))).toThrow(),
);

test('accepted output reaches the core, in as many frames as needed', () => {
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

test('a recorder without lines sends no frame', () => {
  expect(readRecorded('')).toBeUndefined();
  expect(readRecorded('["info","cut of')).toBeUndefined();
  expect(readRecorded('["panic","x"]')).toBeUndefined();
});
