// Collects references to the calls and answers of one attempt. The recording is built from them after the
// run, so that recording costs little during the run.
import type { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import type { GuestCall, Tape, CallReply } from '../../../platform/sandbox/supervisor.ts';
import type { RecordedCall, UnansweredCall } from './recording.ts';

/** Characters of arguments and answers that a tape can hold. A longer tape is dropped, and the recording marked as truncated. */
const charsMax = 4 * 1024 * 1024;
/** Characters that every tape can hold without a quota check. */
const freeChars = 64 * 1024;
/** Minimum size of each further reservation, in characters. */
const stepChars = 256 * 1024;

export interface RunTape extends Tape {
  /** True if the tape exceeded its limit, or no quota was left for it. */
  readonly isCut: boolean;
  /** Number of characters recorded so far. */
  readonly chars: number;
  read(): { readonly calls: readonly RecordedCall[]; readonly unanswered: readonly UnansweredCall[] };
  /** Releases the tape's quota. */
  release(): void;
}

/** @param quota quota for long tapes, shared by all runs */
export function createTape(quota: FairQuota, billingAccount: BillingAccount): RunTape {
  let issued: GuestCall[] = [];
  let delivered: CallReply[] = [];
  /** Number of messages that the guest had received at each of its entries. */
  let entries: number[] = [];
  let chars = 0;
  let isCut = false;
  let reserved: { chars: number; give: () => void }[] = [];

  const release = (): void => {
    for (const { give } of reserved) give();
    reserved = [];
  };
  const clear = (): void => {
    issued = [];
    delivered = [];
    entries = [];
    release();
  };
  const count = (more: number): void => {
    chars += more;
    if (chars <= freeChars) return;
    const reservedChars = reserved.reduce((sum, one) => sum + one.chars, freeChars);
    if (chars <= reservedChars) return;
    const amount = Math.max(stepChars, chars - reservedChars);
    isCut = chars > charsMax || !quota.hasCapacityFor(billingAccount, amount);
    if (isCut) clear();
    else reserved.push({ chars: amount, give: quota.reserve(billingAccount, amount) });
  };

  return {
    release,
    get isCut() {
      return isCut;
    },
    get chars() {
      return chars;
    },
    begin() {
      clear();
      chars = 0;
      isCut = false;
    },
    recordReply(message) {
      if (isCut) return;
      delivered.push(message);
      count(message.t === 'answer' ? message.value.length : message.message.length);
    },
    recordCalls(acked, calls) {
      if (isCut) return;
      if (acked > (entries.at(-1) ?? 0)) entries.push(acked);
      for (const call of calls) {
        issued.push(call);
        count(call[2].length);
      }
    },
    read: () => readTape(issued, delivered, entries),
  };
}

/** Number of messages before the first answer: only the job itself. */
const orders = 1;

function readTape(issued: readonly GuestCall[], delivered: readonly CallReply[], entries: readonly number[]) {
  const open = new Map<number, UnansweredCall>(
    issued.map(([number, op, args], at) => [number, { call: at + 1, op, args }]),
  );
  const calls: RecordedCall[] = [];
  let entry = 0;
  for (const [at, message] of delivered.entries()) {
    const nth = at + 1 + orders;
    while (entry < entries.length && entries[entry]! < nth) entry++;
    const pendingCall = open.get(message.call);
    // This answer was sent after the guest had ended.
    if (entry === entries.length) break;
    if (!pendingCall) continue;
    open.delete(message.call);
    const answer =
      message.t === 'answer'
        ? { ok: true as const, value: message.value }
        : { ok: false as const, error: { code: message.code, message: message.message } };
    calls.push({ ...pendingCall, answer, elapsedMs: message.elapsedMs, entry });
  }
  return { calls, unanswered: [...open.values()] };
}
