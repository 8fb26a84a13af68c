// A dishonest sidecar in the real process and jail. `BEHAVIOUR` is put before this program; it names one of `lies`,
// which run for each message of the core.
import net from 'node:net';

const socket = new net.Socket({ fd: 3 });
const report = process.argv.at(-1);
/** Nonces of all runs that this process received. */
const known = [];

function bytesOf(head, tail = '') {
  if (head.said) return bytesOfSaid(head, tail);
  const [first, rest] = [
    Buffer.from(typeof head === 'string' ? head : JSON.stringify(head)),
    Buffer.from(tail),
  ];
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(4 + first.length + rest.length, 0);
  sizes.writeUInt32LE(first.length, 4);
  return Buffer.concat([sizes, first, rest]);
}

/** The output of a guest is in the tail: its heads, then its texts. */
function bytesOfSaid({ said, ...head }, texts) {
  const heads = said.map((row) => JSON.stringify(row)).join();
  return bytesOf({ ...head, heads: heads.length, texts: texts.length }, heads + texts);
}

const say = (head, tail) => socket.write(bytesOf(head, tail));
const end = (run, more = {}) => ({
  t: 'end',
  run,
  end: { status: 'succeeded' },
  acked: 0,
  cpuMs: 1,
  memoryBytes: 1,
  isolates: 1,
  ...more,
});
const drained = (run, acked, calls = [], logs = []) => ({
  t: 'drained',
  run,
  acked,
  said: [
    ...calls.map((call) => (Array.isArray(call) ? ['c', ...call] : call)),
    ...logs.map((line) => ['l', ...line]),
  ],
});
const failed = (more = {}) => ({
  status: 'failed',
  reason: 'error',
  message: 'it failed',
  killed: false,
  ...more,
});
const text = (length) => 'x'.repeat(length);

const lies = {
  honest: ({ run }) => say(end(run)),
  'an end with an unexpected outcome': ({ run }) =>
    say(
      end(run, {
        end: {
          status: 'succeeded',
          logs: [{ level: 'info', message: 'forged' }],
          calls: 77,
          forged: true,
          wallMs: -1,
          queueMs: 1e9,
        },
        logs: ['forged'],
        calls: 77,
      }),
    ),
  'escapes everywhere': ({ run }) => {
    const line = '\u001b]0;owned\u0007\u009b31mred';
    process.stderr.write(`${line}\n`);
    say(drained(run, 1, [], [['error', line.length]]), line);
    say(end(run, { end: failed({ message: line }) }));
  },
  'an end frame without an end': ({ run }) =>
    say({ t: 'end', run, acked: 0, cpuMs: 1, memoryBytes: 1, isolates: 1 }),
  'an end that is null': ({ run }) => say(end(run, { end: null })),
  'an end with an unknown status': ({ run }) => say(end(run, { end: { status: 'excellent' } })),
  'an unknown reason': ({ run }) => say(end(run, { end: failed({ reason: 'wall' }) })),
  'an endless message': ({ run }) => say(end(run, { end: failed({ message: text(5000) }) })),
  'usage that is not a number': ({ run }) => say(end(run, { cpuMs: '1' })),
  'negative usage': ({ run }) => say(end(run, { cpuMs: -1 })),
  'infinite usage': ({ run }) => say(JSON.stringify(end(run, { memoryBytes: 7 })).replace('7', '1e999')),
  'invalid progress': ({ run }) =>
    say(end(run, { end: { status: 'succeeded', progress: { done: 2, of: 1 } } })),
  'an event with the progress of a schedule': ({ run }) =>
    say(end(run, { end: { status: 'succeeded', progress: { done: 1, of: 9 } } })),
  'a repeated end': ({ run }) => {
    say(drained(run, 1, [[1, 'issues.get', 2]]), '[]');
    say(end(run));
    say(end(run));
  },
  'a call after the end': ({ run }) => {
    say(drained(run, 1, [[1, 'issues.get', 2]]), '[]');
    say(end(run));
    say(drained(run, 1, [[2, 'issues.delete', 2]]), '[]');
  },
  'more responses than requests': ({ run }) => say(drained(run, 2)),
  'endless repetition': ({ run }) => {
    for (let i = 0; i < 100_000; i++) say(drained(run, 1));
  },
  'too many log lines': ({ run }) => {
    for (let i = 0; i < 1000; i++) say(drained(run, 1, [], [['info', 1]]), 'x');
  },
  'endless calls': ({ run }) => {
    for (let i = 0; i < 1000; i++) say(drained(run, 1, Array(900).fill([1, 'sleep', 2])), '[]'.repeat(900));
  },
  'calls in an invalid format': ({ run }) => say(drained(run, 1, [{ call: 1 }])),
  'a call with too many parts': ({ run }) => say(drained(run, 1, [[1, 'issues.get', 2, 9]]), '[]'),
  'a call longer than its frame': ({ run }) => say(drained(run, 1, [[1, 'issues.get', 1e9]])),
  'arguments above the limit of their operation': ({ run }) =>
    say(drained(run, 1, [[1, 'issues.get', 300_000]]), text(300_000)),
  'an unclaimed tail': ({ run }) => say(end(run), text(1000)),
  'a claimed tail that is missing': ({ run }) => say({ t: 'drained', run, acked: 1, heads: 0, texts: 9 }),
  'texts without an owner': ({ run }) => say(drained(run, 1), text(1000)),
  'an unknown log level': ({ run }) => say(drained(run, 1, [], [['panic', 1]]), 'x'),
  'no JSON': () => say('{"t":"drained",'),
  'deep JSON': () => say('['.repeat(60_000)),
  'a list in place of a frame': () => say([]),
  'an unknown type': ({ run }) => say({ t: 'execute', run }),
  'a head above its limit': ({ run }) => say(JSON.stringify(end(run)) + ' '.repeat(70_000)),
  'sixteen megabytes announced': () => socket.write(Buffer.from([0, 0, 0, 1, 16, 0, 0, 0])),
  'contradictory sizes': () => socket.write(Buffer.from([8, 0, 0, 0, 99, 0, 0, 0])),
  'a guessed run': () => say(end('AAAAAAAAAAAAAAAAAAAAAA')),
  'a run by its number': () => say(end(1)),
  'an unrequested definition': ({ run }) => say({ t: 'described', run }, '{}'),
  'a repeated start': () => say({ t: 'ready', jail: JSON.parse(report) }),
  'responses to unsent pings': () => {
    for (let i = 0; i < 10; i++) say({ t: 'pong', isolates: 0 });
  },
  'taint of an unassigned run': () =>
    say({ t: 'tainted', run: 'AAAAAAAAAAAAAAAAAAAAAA', reason: 'cpu', message: 'x', cpuMs: 1 }),
  /** Acts in the name of the previous run. */
  'a finished run': ({ run }) => {
    if (known.length === 1) return say(end(run));
    say(drained(known[0], 1, [[1, 'issues.delete', 7]]), '["all"]');
  },
  'endless standard error': () => {
    for (let i = 0; i < 100; i++) process.stderr.write(text(64 * 1024));
  },
  'no end': ({ run }) => say(drained(run, 1)),
  crash: () => process.abort(),
  'a call, then a crash while it waits': ({ run }) => {
    say(drained(run, 1, [[1, 'issues.get', 2]]), '[]');
    setTimeout(() => process.abort(), 200);
  },
  /** Stops reading and sends many requests, while it answers pings. */
  hoard: ({ run }) => {
    say(drained(run, 1, Array(6).fill([1, 'kv.get', 2])), '[]'.repeat(6));
    if (known.length > 1) return;
    socket.pause();
    setInterval(() => say({ t: 'pong', isolates: 1 }), 190);
  },
  /** Frames of the maximum regular size, each with a valid call, as fast as the core reads them. */
  'large frames': ({ run }) => {
    const args = JSON.stringify(text(2_190_000));
    const next = (left) =>
      left > 0 &&
      socket.write(bytesOf(drained(run, 1, [[left, 'kv.set', args.length]]), args), () => next(left - 1));
    next(6);
  },
};

function hear(message) {
  if (message.t === 'init') say({ t: 'ready', jail: JSON.parse(report) });
  else if (message.t === 'ping') say({ t: 'pong', isolates: 0 });
  else if (message.t === 'run') {
    known.push(message.run);
    lies[BEHAVIOUR](message);
  } else if (message.t === 'stop' && BEHAVIOUR !== 'no end')
    say(end(message.run, { end: { status: 'stopped' } }));
}

let pending = Buffer.alloc(0);
socket.on('data', (chunk) => {
  pending = Buffer.concat([pending, chunk]);
  while (pending.length >= 8 && pending.length >= 4 + pending.readUInt32LE(0)) {
    const size = pending.readUInt32LE(0);
    const head = pending.subarray(8, 8 + pending.readUInt32LE(4)).toString();
    pending = pending.subarray(4 + size);
    for (const message of JSON.parse(`[${head}]`)) hear(message);
  }
});
socket.on('error', () => process.abort());
