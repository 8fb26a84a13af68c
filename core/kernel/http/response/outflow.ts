// Sends large responses as fast as the client reads them. A response counts against the caller until it is
// read, so a client that does not read uses a bounded amount of memory; it is disconnected.
// docs/decisions/0008 describes how Bun pulls.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { tooManyAtOnce } from '../../../platform/lib/errors/errors.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';

/**
 * Limit of the memory for responses and stream chunks that wait to be read. One caller may use a quarter of
 * it.
 */
const unsentBytesMax = 160 * 1024 * 1024;
/** Smaller responses fit into the buffers of a socket. */
const largeBytes = 256 * 1024;
const pieceBytes = 64 * 1024;
/** A socket that accepts no data for this long is closed. */
const stuckMs = 30_000;

/** Connection that is exempt from the idle timeout. */
export interface ExemptConnection {
  /** Ends the exemption, after the end of the response. */
  letGo(): void;
  hangUp(): void;
}

type Body = string | Uint8Array<ArrayBuffer>;

export interface Outflow {
  /** Bytes that wait to be sent, of responses and event streams. */
  readonly unsent: FairQuota;
  /** Must be called before data is read for a potentially large response. @throws ApiError rate_limited */
  requireCapacity(billingAccount: BillingAccount): void;
  /** Counts a response that is being compressed, until the returned function is called. @throws ApiError rate_limited */
  hold(billingAccount: BillingAccount, text: string): () => void;
  /**
   * Returns the body to send: unchanged if small, as a stream at the pace of the reader if large.
   * @param holdOpen exempts the connection from the idle timeout
   * @throws ApiError rate_limited
   */
  bodyOf<B extends Body>(
    billingAccount: BillingAccount,
    body: B,
    holdOpen: () => ExemptConnection,
  ): B | ReadableStream<Uint8Array>;
  /** Aborts the responses that are not completely read. */
  stop(): void;
}

export function createOutflow(clock: Clock): Outflow {
  const unsent = new FairQuota(unsentBytesMax);
  /** Aborts each response that is being sent. Each one is large and uses quota of `unsent`, which bounds their number. */
  const open = new Set<() => void>();

  const hold = (billingAccount: BillingAccount, bytes: number): (() => void) => {
    requireCapacityIn(unsent, billingAccount, bytes);
    return unsent.reserve(billingAccount, bytes);
  };

  const pulled = (
    bytes: Uint8Array,
    release: () => void,
    connection: ExemptConnection,
  ): ReadableStream<Uint8Array> => {
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
            controller.error(new Error('The client did not read the response in time.'));
            connection.hangUp();
          };
          open.add(breakOff);
        },
        pull(controller) {
          cancelStuck();
          if (at >= bytes.length) {
            end();
            controller.close();
            return connection.letGo();
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
    requireCapacity: (billingAccount) => requireCapacityIn(unsent, billingAccount, largeBytes),
    hold: (billingAccount, text) => hold(billingAccount, text.length),
    bodyOf(billingAccount, body, holdOpen) {
      if (body.length < largeBytes) return body;
      const bytes = bytesOf(body);
      return pulled(bytes, hold(billingAccount, bytes.length), holdOpen());
    },
    stop() {
      for (const breakOff of open) breakOff();
    },
  };
}

function requireCapacityIn(unsent: FairQuota, billingAccount: BillingAccount, bytes: number): void {
  if (!unsent.hasCapacityFor(billingAccount, bytes))
    throw tooManyAtOnce(
      'Too many responses are waiting to be read. Read them before you send more requests.',
    );
}

function bytesOf(body: Body): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : body;
}
