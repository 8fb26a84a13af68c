// What one attempt says and hears, kept while it runs as references to texts that are there anyway. A recording is made of it when the
// run has ended; most of what it costs is paid then.
import type { Shares } from '../../lib/fairness/shares.ts';
import type { Payer } from '../../lib/payer.ts';
import type { MadeCall, Tape, Told } from '../../sandbox/supervisor.ts';
import type { RecordedCall, UnansweredCall } from './recording.ts';

/** Characters of arguments and answers that a tape holds; what comes after them is not kept, and the recording says so. */
const charsMax = 4 * 1024 * 1024;
/** A tape may have so many without asking whether there is room. */
const freeChars = 64 * 1024;
/** In which it asks for more. */
const stepChars = 256 * 1024;

export interface RunTape extends Tape {
  /** It became longer than a tape may be, or there was no room for it. */
  readonly isCut: boolean;
  /** Characters of what it holds. */
  readonly chars: number;
  read(): { readonly calls: readonly RecordedCall[]; readonly unanswered: readonly UnansweredCall[] };
  /** Takes no room any more. */
  release(): void;
}

/** @param room of long tapes, shared by all runs */
export function createTape(room: Shares, payer: Payer): RunTape {
  let made: MadeCall[] = [];
  let told: Told[] = [];
  /** How many messages the guest had been given after each of its entries. */
  let entries: number[] = [];
  let chars = 0;
  let isCut = false;
  let held: { chars: number; give: () => void }[] = [];

  const release = (): void => {
    for (const { give } of held) give();
    held = [];
  };
  const clear = (): void => {
    made = [];
    told = [];
    entries = [];
    release();
  };
  const count = (more: number): void => {
    chars += more;
    if (chars <= freeChars) return;
    const heldChars = held.reduce((sum, one) => sum + one.chars, freeChars);
    if (chars <= heldChars) return;
    const amount = Math.max(stepChars, chars - heldChars);
    isCut = chars > charsMax || !room.hasRoomFor(payer, amount);
    if (isCut) clear();
    else held.push({ chars: amount, give: room.hold(payer, amount) });
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
    told(message) {
      if (isCut) return;
      told.push(message);
      count(message.t === 'answer' ? message.value.length : message.message.length);
    },
    heard(acked, calls) {
      if (isCut) return;
      if (acked > (entries.at(-1) ?? 0)) entries.push(acked);
      for (const call of calls) {
        made.push(call);
        count(call[2].length);
      }
    },
    read: () => readTape(made, told, entries),
  };
}

/** The order of the run is the first message, and the first entry is its start. */
const orders = 1;

function readTape(made: readonly MadeCall[], told: readonly Told[], entries: readonly number[]) {
  const open = new Map<number, UnansweredCall>(
    made.map(([number, op, args], at) => [number, { call: at + 1, op, args }]),
  );
  const calls: RecordedCall[] = [];
  let entry = 0;
  for (const [at, message] of told.entries()) {
    const nth = at + 1 + orders;
    while (entry < entries.length && entries[entry]! < nth) entry++;
    const asked = open.get(message.call);
    // It was sent after the guest had come to its end.
    if (entry === entries.length) break;
    if (!asked) continue;
    open.delete(message.call);
    const answer =
      message.t === 'answer'
        ? { ok: true as const, value: message.value }
        : { ok: false as const, error: { code: message.code, message: message.message } };
    calls.push({ ...asked, answer, elapsedMs: message.elapsedMs, entry });
  }
  return { calls, unanswered: [...open.values()] };
}
