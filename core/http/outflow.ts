// Large answers go out as their reader takes them, and until then count against who asked: a client that asks and does not
// read costs a bounded amount of memory, and is hung up on. See docs/decisions/0008 for how Bun pulls.
import type { Clock } from '../lib/clock.ts';
import { tooManyAtOnce } from '../lib/errors.ts';
import type { Payer } from '../lib/payer.ts';
import { Shares } from '../lib/fairness/shares.ts';

/** The memory for all answers and pieces of streams that wait for their readers. One caller alone may hold a quarter of it. */
const unsentBytesMax = 160 * 1024 * 1024;
/** Smaller answers fit into the buffers of a socket. */
const largeBytes = 256 * 1024;
const pieceBytes = 64 * 1024;
/** A socket that takes nothing for this long is closed. */
const stuckMs = 30_000;

/** A connection that is kept open however slowly it is read. */
export interface Held {
  /** The answer has ended: the connection is as any other. */
  letGo(): void;
  hangUp(): void;
}

type Body = string | Uint8Array<ArrayBuffer>;

export interface Outflow {
  /** Counts what waits to be sent: answers and pieces of event streams alike. */
  readonly unsent: Shares;
  /** To be called before anything is read for an answer that may be large. @throws ApiError rate_limited */
  requireRoom(payer: Payer): void;
  /** Counts an answer that is being coded until the returned function is called. @throws ApiError rate_limited */
  hold(payer: Payer, text: string): () => void;
  /**
   * The body of an answer: as it is where it is small, pulled where it is large.
   * @param keepOpen keeps the connection open however slowly it is read
   * @throws ApiError rate_limited
   */
  bodyOf<B extends Body>(payer: Payer, body: B, keepOpen: () => Held): B | ReadableStream<Uint8Array>;
  /** Breaks off the answers that are not taken yet. */
  stop(): void;
}

export function createOutflow(clock: Clock): Outflow {
  const unsent = new Shares(unsentBytesMax);
  /** Breaks off each answer that is being sent. Each is large and has its share of `unsent`, which bounds how many there are. */
  const open = new Set<() => void>();

  const hold = (payer: Payer, bytes: number): (() => void) => {
    requireRoomIn(unsent, payer, bytes);
    return unsent.hold(payer, bytes);
  };

  const pulled = (bytes: Uint8Array, release: () => void, held: Held): ReadableStream<Uint8Array> => {
    let at = 0;
    let cancelStuck = (): void => undefined;
    let breakOff = (): void => undefined;
    const end = (): void => {
      cancelStuck();
      release();
      open.delete(breakOff);
    };
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          breakOff = () => {
            end();
            controller.error(new Error('An answer was not taken in time.'));
            held.hangUp();
          };
          open.add(breakOff);
        },
        pull(controller) {
          cancelStuck();
          if (at >= bytes.length) {
            end();
            controller.close();
            return held.letGo();
          }
          controller.enqueue(bytes.subarray(at, (at += pieceBytes)));
          cancelStuck = clock.after(stuckMs, breakOff);
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    );
  };

  return {
    unsent,
    requireRoom: (payer) => requireRoomIn(unsent, payer, largeBytes),
    hold: (payer, text) => hold(payer, text.length),
    bodyOf(payer, body, keepOpen) {
      if (body.length < largeBytes) return body;
      const bytes = bytesOf(body);
      return pulled(bytes, hold(payer, bytes.length), keepOpen());
    },
    stop() {
      for (const breakOff of open) breakOff();
    },
  };
}

function requireRoomIn(unsent: Shares, payer: Payer, bytes: number): void {
  if (!unsent.hasRoomFor(payer, bytes))
    throw tooManyAtOnce(
      'Too many answers wait to be read. Read those you asked for before you ask for more.',
    );
}

function bytesOf(body: Body): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : body;
}
