// Webhook receiver in a separate process: one port per endpoint, raw sockets, a two-byte answer. It counts
// deliveries, measures their latency, captures some for the bare loop, and hangs on demand.
import type { Socket } from 'bun';
import { answerParent } from '../children.ts';

export interface ReceiverRound {
  /** Number of distinct deliveries, by endpoint. An attempt that timed out is sent again. */
  readonly counts: readonly number[];
  /** Time of the last request, on the clock of `epochMs`. */
  readonly lastAtMs: number;
  /** Latency from the event's `created_at`, which is in whole milliseconds, to the receipt. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Captured {
  readonly head: string;
  readonly body: string;
}

interface State {
  endpoint: number;
  unread: Buffer | null;
}

const answer = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok');
const idHeader = /\r\nwebhook-id: *(\S+)/i;
const capturedMax = 500;
const createdAt = Buffer.from('"created_at":"');
const isoLength = '2026-01-01T00:00:00.000Z'.length;

/** Ids of the received deliveries, by endpoint. */
let received: Set<string>[] = [];
let latencies: number[] = [];
let captured: Captured[] = [];
let lastAtMs = 0;
let waiting: { endpoints: readonly number[]; count: number; resolve(): void } | null = null;
const hanging = new Set<number>();
/** A socket that its sender closed after a timeout is removed. */
const unanswered = new Map<Socket<State>, { readonly endpoint: number; readonly id: string }>();

const epochMs = (): number => performance.timeOrigin + performance.now();

function isReached({ endpoints, count }: { endpoints: readonly number[]; count: number }): boolean {
  return endpoints.reduce((sum, endpoint) => sum + (received[endpoint]?.size ?? 0), 0) >= count;
}

function receive(socket: Socket<State>, head: string, body: Buffer): void {
  const { endpoint } = socket.data;
  const id = idHeader.exec(head)?.[1] ?? '';
  if (hanging.has(endpoint)) return void unanswered.set(socket, { endpoint, id });
  lastAtMs = epochMs();
  const at = body.indexOf(createdAt) + createdAt.length;
  latencies.push(lastAtMs - Date.parse(body.toString('latin1', at, at + isoLength)));
  if (captured.length < capturedMax) captured.push({ head, body: body.toString() });
  received[endpoint]?.add(id);
  socket.write(answer);
  if (!waiting || !isReached(waiting)) return;
  waiting.resolve();
  waiting = null;
}

function read(socket: Socket<State>, chunk: Buffer): void {
  const { data } = socket;
  data.unread = data.unread ? Buffer.concat([data.unread, chunk]) : chunk;
  while (data.unread) {
    const end: number = data.unread.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = data.unread.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    const next: number = end + 4 + length;
    if (data.unread.length < next) return;
    const body = data.unread.subarray(end + 4, next);
    data.unread = data.unread.length > next ? data.unread.subarray(next) : null;
    receive(socket, head, body);
  }
}

function start({ endpoints }: { endpoints: number }): string[] {
  received = Array.from({ length: endpoints }, () => new Set());
  return received.map((_, endpoint) => {
    const { port } = Bun.listen<State>({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        open(socket) {
          socket.data = { endpoint, unread: null };
        },
        data: read,
        close: (socket) => void unanswered.delete(socket),
      },
    });
    return `http://127.0.0.1:${port}/hooks`;
  });
}

function begin(): void {
  for (const ids of received) ids.clear();
  latencies = [];
  lastAtMs = 0;
}

/** Returns the counts and latencies since `begin`. */
function round(): ReceiverRound {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { counts: received.map(({ size }) => size), lastAtMs, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** Resolves once the endpoints together have received `count` deliveries since `begin`. */
async function reached(goal: { endpoints: readonly number[]; count: number }): Promise<ReceiverRound> {
  if (!isReached(goal)) await new Promise<void>((resolve) => (waiting = { ...goal, resolve }));
  return round();
}

/** Makes these endpoints accept requests without answering. Other endpoints answer their pending requests. */
function hang(endpoints: readonly number[]): void {
  hanging.clear();
  for (const endpoint of endpoints) hanging.add(endpoint);
  for (const [socket, { endpoint, id }] of unanswered) {
    if (hanging.has(endpoint)) continue;
    unanswered.delete(socket);
    received[endpoint]?.add(id);
    socket.write(answer);
  }
}

answerParent({ start, begin, round, reached, hang, captured: () => captured });
