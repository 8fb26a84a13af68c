// A sidecar that is a liar: it stands in the real process, behind the real jail, and says what it likes. `BEHAVIOUR`
// is put before this program; it names one of `lies`, which are asked for each message of the core.
import net from 'node:net';

const socket = new net.Socket({ fd: 3 });
const report = process.argv.at(-1);
/** Nonces of all runs that this process was ever given. */
const known = [];

function bytesOf(head, tail = '') {
  const [first, rest] = [
    Buffer.from(typeof head === 'string' ? head : JSON.stringify(head)),
    Buffer.from(tail),
  ];
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(4 + first.length + rest.length, 0);
  sizes.writeUInt32LE(first.length, 4);
  return Buffer.concat([sizes, first, rest]);
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
  'an end with an outcome of its own': ({ run }) =>
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
  'an end without an end': ({ run }) =>
    say({ t: 'end', run, acked: 0, cpuMs: 1, memoryBytes: 1, isolates: 1 }),
  'an end that is null': ({ run }) => say(end(run, { end: null })),
  'an end of no known status': ({ run }) => say(end(run, { end: { status: 'excellent' } })),
  'a reason of its own': ({ run }) => say(end(run, { end: failed({ reason: 'wall' }) })),
  'a message without end': ({ run }) => say(end(run, { end: failed({ message: text(5000) }) })),
  'usage that is no number': ({ run }) => say(end(run, { cpuMs: '1' })),
  'usage below nothing': ({ run }) => say(end(run, { cpuMs: -1 })),
  'usage beyond everything': ({ run }) =>
    say(JSON.stringify(end(run, { memoryBytes: 7 })).replace('7', '1e999')),
  'a progress that is none': ({ run }) =>
    say(end(run, { end: { status: 'succeeded', progress: { done: 2, of: 1 } } })),
  'an event that goes on like a schedule': ({ run }) =>
    say(end(run, { end: { status: 'succeeded', progress: { done: 1, of: 9 } } })),
  'an end said twice': ({ run }) => {
    say(drained(run, 1, [[1, 'issues.get', 2]]), '[]');
    say(end(run));
    say(end(run));
  },
  'a call after the end': ({ run }) => {
    say(drained(run, 1, [[1, 'issues.get', 2]]), '[]');
    say(end(run));
    say(drained(run, 1, [[2, 'issues.delete', 2]]), '[]');
  },
  'more answers than questions': ({ run }) => say(drained(run, 2)),
  'the same again and again': ({ run }) => {
    for (let i = 0; i < 100_000; i++) say(drained(run, 1));
  },
  'more log lines than it may': ({ run }) => {
    for (let i = 0; i < 1000; i++) say(drained(run, 1, [], [['info', 1]]), 'x');
  },
  'calls without end': ({ run }) => {
    for (let i = 0; i < 1000; i++) say(drained(run, 1, Array(900).fill([1, 'sleep', 2])), '[]'.repeat(900));
  },
  'calls that are no rows': ({ run }) => say(drained(run, 1, [{ call: 1 }])),
  'more in a call than there is': ({ run }) => say(drained(run, 1, [[1, 'issues.get', 2, 9]]), '[]'),
  'a call of no text': ({ run }) => say(drained(run, 1, [[1, 'issues.get', 1e9]])),
  'arguments above the limit of their operation': ({ run }) =>
    say(drained(run, 1, [[1, 'issues.get', 300_000]]), text(300_000)),
  'a tail that nobody claims': ({ run }) => say(drained(run, 1), text(1000)),
  'a log level of its own': ({ run }) => say(drained(run, 1, [], [['panic', 1]]), 'x'),
  'no JSON': () => say('{"t":"drained",'),
  'deep JSON': () => say('['.repeat(60_000)),
  'a list for a frame': () => say([]),
  'an unknown type': ({ run }) => say({ t: 'execute', run }),
  'a head above its limit': ({ run }) => say(JSON.stringify(end(run)) + ' '.repeat(70_000)),
  'sixteen megabytes announced': () => socket.write(Buffer.from([0, 0, 0, 1, 16, 0, 0, 0])),
  'sizes that contradict each other': () => socket.write(Buffer.from([8, 0, 0, 0, 99, 0, 0, 0])),
  'a guessed run': () => say(end('AAAAAAAAAAAAAAAAAAAAAA')),
  'a run by its number': () => say(end(1)),
  'a definition nobody asked for': ({ run }) => say({ t: 'described', run }, '{}'),
  'that it starts, twice': () => say({ t: 'ready', jail: JSON.parse(report) }),
  'answers to pings that were not sent': () => {
    for (let i = 0; i < 10; i++) say({ t: 'pong', isolates: 0 });
  },
  'taint for a run it was not given': () =>
    say({ t: 'tainted', run: 'AAAAAAAAAAAAAAAAAAAAAA', reason: 'cpu', message: 'x', cpuMs: 1 }),
  /** Acts for the run before this one. */
  'a finished run': ({ run }) => {
    if (known.length === 1) return say(end(run));
    say(drained(known[0], 1, [[1, 'issues.delete', 7]]), '["all"]');
  },
  'standard error without end': () => {
    for (let i = 0; i < 100; i++) process.stderr.write(text(64 * 1024));
  },
  'never an end': ({ run }) => say(drained(run, 1)),
  crash: () => process.abort(),
  'a call, then a crash while it waits': ({ run }) => {
    say(drained(run, 1, [[1, 'issues.get', 2]]), '[]');
    setTimeout(() => process.abort(), 200);
  },
  /** Reads nothing more and asks for much, while it says that it lives. */
  hoard: ({ run }) => {
    say(drained(run, 1, Array(6).fill([1, 'kv.get', 2])), '[]'.repeat(6));
    if (known.length > 1) return;
    socket.pause();
    setInterval(() => say({ t: 'pong', isolates: 1 }), 190);
  },
  /** Frames as large as the largest honest one, each with a call that fits, as fast as the core takes them. */
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
  } else if (message.t === 'stop' && BEHAVIOUR !== 'never an end')
    say(end(message.run, { end: { status: 'stopped' } }));
}

let pending = Buffer.alloc(0);
socket.on('data', (chunk) => {
  pending = Buffer.concat([pending, chunk]);
  while (pending.length >= 8 && pending.length >= 4 + pending.readUInt32LE(0)) {
    const size = pending.readUInt32LE(0);
    const head = pending.subarray(8, 8 + pending.readUInt32LE(4)).toString();
    pending = pending.subarray(4 + size);
    hear(JSON.parse(head));
  }
});
socket.on('error', () => process.abort());
