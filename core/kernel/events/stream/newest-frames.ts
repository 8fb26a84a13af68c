// Cache of the newest rendered events of one workspace. The size of the cache limits how far a stream may be
// behind without reading the log.
import type { StreamFrame, FrameFilter } from './frame.ts';

const cachedFramesMax = 1_000;
const cachedCharactersMax = 4 * 1024 * 1024;
/** A piece ends after the event that exceeds this size (characters). */
export const pieceCharacters = 64 * 1024;

/** Frames that a stream sends together. */
export interface Piece {
  readonly frames: readonly StreamFrame[];
  /** Last sequence the piece covers; unwanted frames up to it are omitted. */
  readonly through: number;
}

export class NewestFrames {
  #frames: StreamFrame[] = [];
  #characters = 0;
  #last: number;

  /** @param last last sequence of the log */
  constructor(last: number) {
    this.#last = last;
  }

  /** Last sequence in the cache. */
  get last(): number {
    return this.#last;
  }

  add(frames: readonly StreamFrame[]): void {
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#characters += frame.text.length;
    }
    this.#last = frames.at(-1)?.sequence ?? this.#last;
    let dropped = 0;
    while (this.#frames.length - dropped > cachedFramesMax || this.#characters > cachedCharactersMax)
      this.#characters -= this.#frames[dropped++]!.text.length;
    if (dropped > 0) this.#frames = this.#frames.slice(dropped);
  }

  /** Returns the frames after a sequence; null if the cache no longer holds them. */
  after(sequence: number, matches: FrameFilter): Piece | null {
    if (sequence >= this.#last) return { frames: [], through: sequence };
    const first = this.#frames[0]?.sequence ?? Infinity;
    if (sequence + 1 < first) return null;
    const frames: StreamFrame[] = [];
    let characters = 0;
    let at = sequence + 1 - first;
    for (; at < this.#frames.length && characters <= pieceCharacters; at++) {
      const frame = this.#frames[at]!;
      if (!matches(frame.type, frame.memberId)) continue;
      frames.push(frame);
      characters += frame.text.length;
    }
    return { frames, through: this.#frames[at - 1]!.sequence };
  }
}
