import { expect, test } from 'bun:test';
import { busyBounds, readFrame, type SidecarMessage } from '../frames.ts';
import { createFrameReader, createFrameWriter } from '../framing.ts';
import { callsPerFrameMax, kvTextMax } from '../protocol.ts';
import type { GuestOutbox } from './guest/bridge.ts';
import { readEnd, readOutbox, readRecorded } from './outbox.ts';

const outbox = (heads: unknown, texts: unknown = '', end: unknown = ''): GuestOutbox =>
  ({ heads, texts, end, after: '' }) as GuestOutbox;

const invalid: [what: string, given: GuestOutbox][] = [
  ['no text', outbox(7)],
  ['no texts', outbox('["c",1,"issues.get",2]', null)],
  ['heads above the size of a head', outbox(`["l","info",0${' '.repeat(70_000)}]`)],
  ['texts above the size of all calls', outbox('["c",1,"kv.set",15000000]', 'x'.repeat(15_000_000))],
  ['a text that fits into no part', outbox('["c",1,"kv.set",3000000]', 'x'.repeat(3_000_000))],
  ['a long text without an owner', outbox('["l","info",1]', 'x'.repeat(3_000_000))],
];

test.each(invalid)('an outbox with %s is rejected here, so that only its run fails', (_what, malformed) => {
  expect(() => readOutbox(malformed)).toThrow();
});

const broken: [what: string, given: GuestOutbox][] = [
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
  ['texts only', outbox('', '[]')],
  ['an unknown level', outbox('["l","panic",1]', 'x')],
  ['the end of the list', outbox('["l","info",1]],"acked":9,"said":[[', 'x')],
  [
    'more than a frame can carry',
    outbox(
      Array(callsPerFrameMax + 1)
        .fill('["l","info",0]')
        .join(),
    ),
  ],
];

/** Passes the output through a frame. */
function received(given: GuestOutbox): SidecarMessage[] {
  const writer = createFrameWriter();
  for (const said of readOutbox(given)) writer.add({ t: 'drained', run: 'A'.repeat(22), acked: 1, said });
  const messages: SidecarMessage[] = [];
  createFrameReader(() => busyBounds).push(writer.take(), (frame) => messages.push(...readFrame(frame)));
  return messages;
}

test.each(broken)('an outbox with %s reaches the core as invalid output of its run', (_what, malformed) => {
  expect(received(malformed)).toEqual([{ t: 'drained', run: 'A'.repeat(22), acked: 1, said: undefined }]);
});

test.each(['7', '[', '["excellent"]', '["error",7]', '["done",{"done":2,"of":1}]'])(
  'an end frame that is %s is rejected',
  (end) => expect(() => readEnd(end)).toThrow(),
);

test('accepted output reaches the core, in as many frames as needed', () => {
  const args = JSON.stringify('é'.repeat(kvTextMax - 100));
  const call = (n: number): string => `["c",${n},"kv.set",${args.length}]`;
  const messages = received(outbox(`${call(1)},["l","info",2],${call(2)}`, `${args}hi${args}`));
  expect(messages).toMatchObject([
    { said: { calls: [[1, 'kv.set', args]], logs: [['info', 'hi']] } },
    { said: { calls: [[2, 'kv.set', args]], logs: [] } },
  ]);
});

test('a recorder without lines sends no frame', () => {
  expect(readRecorded('')).toBeUndefined();
  expect(readRecorded('["info","cut of')).toBeUndefined();
  expect(readRecorded('["panic","x"]')).toBeUndefined();
});
