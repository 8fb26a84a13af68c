// Reading a frame either returns a protocol message or rejects it as a violation; it never returns or throws anything
// else.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  busyBounds,
  nonceSource,
  ProtocolBreach,
  readFrame,
  type SidecarMessage,
} from '../../core/platform/sandbox/frames.ts';
import { createFrameReader, createFrameWriter } from '../../core/platform/sandbox/framing.ts';
import { kvTextMax } from '../../core/platform/sandbox/protocol.ts';

const fuzzSeed = 7;
const newNonce = nonceSource();
const run = newNonce();

const end = fc.record({
  status: fc.constantFrom('succeeded', 'failed', 'starved', 'stopped', 'odd'),
  reason: fc.oneof(fc.constantFrom('error', 'cpu', 'drop'), fc.jsonValue()),
  message: fc.oneof(fc.string(), fc.jsonValue()),
  killed: fc.oneof(fc.boolean(), fc.jsonValue()),
  retryAfterMs: fc.oneof(fc.integer(), fc.constant(undefined), fc.jsonValue()),
  more: fc.jsonValue(),
});
const frame = fc.record(
  {
    t: fc.constantFrom('ready', 'pong', 'drained', 'end', 'described', 'tainted', 'odd'),
    run: fc.oneof(fc.constant(run), fc.jsonValue()),
    acked: fc.oneof(fc.nat(), fc.jsonValue()),
    end: fc.oneof(end, fc.jsonValue()),
    cpuMs: fc.oneof(fc.double(), fc.jsonValue()),
    memoryBytes: fc.oneof(fc.nat(), fc.jsonValue()),
    isolates: fc.oneof(fc.nat(), fc.jsonValue()),
    reason: fc.oneof(fc.constantFrom('cpu', 'memory'), fc.jsonValue()),
    message: fc.oneof(fc.string(), fc.jsonValue()),
    jail: fc.oneof(
      fc.record({ landlock: fc.nat(), seccomp: fc.boolean(), rlimits: fc.boolean() }),
      fc.jsonValue(),
    ),
    logs2: fc.jsonValue(),
  },
  { requiredKeys: ['t'] },
);

/** Rows of a guest's output, and the texts that follow them. */
const said = fc.tuple(
  fc.array(
    fc.oneof(
      fc.tuple(fc.constantFrom('c', 'odd'), fc.integer(), fc.string(), fc.nat(9)),
      fc.tuple(fc.constantFrom('l', 'odd'), fc.constantFrom('info', 'odd'), fc.nat(9)),
      fc.jsonValue(),
    ),
  ),
  fc.string({ maxLength: 20 }),
);
const lengths = fc.option(
  fc.record({ heads: fc.oneof(fc.nat(20), fc.jsonValue()), texts: fc.nat(20), units: fc.nat(20) }),
);

const fieldsOf: Record<string, string[]> = {
  ready: ['t', 'jail'],
  pong: ['t', 'isolates'],
  drained: ['t', 'run', 'acked', 'said'],
  end: ['t', 'run', 'end', 'acked', 'cpuMs', 'memoryBytes', 'isolates'],
  described: ['t', 'run', 'manifest'],
  tainted: ['t', 'run', 'reason', 'message', 'cpuMs'],
};

test('any frame content is parsed or rejected', () => {
  let read = 0;
  fc.assert(
    fc.property(frame, said, lengths, (fields, [rows, texts], claimed) => {
      const heads = rows.map((row) => JSON.stringify(row)).join();
      const of = claimed ?? { heads: heads.length, texts: texts.length, units: heads.length + texts.length };
      const tail = fields.t === 'drained' || fields.t === 'described' ? heads + texts : '';
      try {
        const [message] = readFrame({ head: JSON.stringify({ ...fields, ...of }), tail });
        if (!message) throw new Error('No message was read.');
        read++;
        expect(Object.keys(message).sort()).toEqual([...(fieldsOf[message.t] ?? [])].sort());
        if (message.t === 'end')
          for (const key of Object.keys(message.end))
            expect(['status', 'reason', 'message', 'killed', 'retryAfterMs']).toContain(key);
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolBreach);
      }
    }),
    { seed: fuzzSeed, numRuns: 5000 },
  );
  expect(read).toBeGreaterThan(100);
});

test('messages are parsed regardless of the packet boundaries', () => {
  const pong = { t: 'pong', isolates: 3 } as const;
  const args = '["é\\ud800€😀"]';
  const mixed = `["c",1,"kv.set",${args.length}],["l","info",2],["c",2,"sleep",3],["l","warn",0]`;
  const large = 'ж'.repeat(kvTextMax);
  const ended = {
    t: 'end',
    run,
    end: { status: 'failed', reason: 'retry_later', message: 'x', killed: false, retryAfterMs: 5 },
    cpuMs: 1.5,
    acked: 4,
    memoryBytes: 9,
    isolates: 0,
  } as const;
  const writer = createFrameWriter();
  for (const message of [
    pong,
    { t: 'drained', run, acked: 1, said: { heads: mixed, texts: `${args}\ufeffä[5]` } },
    { t: 'drained', run, acked: 2, said: { heads: `["c",3,"kv.set",${large.length}]`, texts: large } },
    { t: 'drained', run, acked: 3, said: { heads: '', texts: '' } },
    ended,
  ] as const)
    writer.add(message);
  const bytes = writer.take();
  const said: SidecarMessage[] = [
    pong,
    {
      t: 'drained',
      run,
      acked: 1,
      said: {
        calls: [
          [1, 'kv.set', args],
          [2, 'sleep', '[5]'],
        ],
        logs: [
          ['info', '\ufeffä'],
          ['warn', ''],
        ],
      },
    },
    { t: 'drained', run, acked: 2, said: { calls: [[3, 'kv.set', large]], logs: [] } },
    { t: 'drained', run, acked: 3, said: { calls: [], logs: [] } },
    ended,
  ];
  for (const size of [7, 4096, 65_536, bytes.byteLength]) {
    const reader = createFrameReader(() => busyBounds);
    const received: SidecarMessage[] = [];
    const until = size === 7 ? 400 : bytes.byteLength;
    for (let at = 0; at < until; at += size)
      reader.push(bytes.subarray(at, Math.min(at + size, until)), (one) => received.push(...readFrame(one)));
    expect(received).toEqual(said.slice(0, received.length));
    expect(received.length).toBe(size === 7 ? 2 : said.length);
  }
});

test('run names are unique, and no state of one name carries over to the next', () => {
  const names = Array.from({ length: 2000 }, newNonce);
  expect(new Set(names).size).toBe(2000);
  for (const name of names) expect(name).toMatch(/^[\w-]{22}$/);
});
