// Index of a team. `kv` has the segments that the schedule `learn` writes, `similar:KEY:SLOT`, with their stamps in
// `similar:KEY`; a full index reuses its segments in turn, which forgets the oldest issues. Issues created since are
// in the memory of the isolate: if every event wrote the index, concurrent runs would conflict.
import type { Stored } from '../context.ts';
import {
  addEntry,
  buildSegment,
  decodeSegment,
  encodeSegment,
  segmentIssuesMax,
  type Entry,
  type Segment,
} from './segment.ts';

/** Raised whenever terms or layout change; an index of another version is dropped and filled again. */
const indexVersion = 1;
const segmentsMax = 16;
/** Limit of all models and indexes of a workspace, and upper bounds of their parts. */
const workspaceBytesMax = 5_000_000;
const modelBytesMax = 220_000;
const segmentBytesMax = 26_000;
const recentSegmentsMax = 4;
const indexesCachedMax = 8;

interface Head {
  readonly version: number;
  /** Stamp of each segment; it changes with the segment. */
  readonly stamps: number[];
  /** Unix milliseconds at which each segment was last read from its issues. */
  readonly readAt: number[];
  /** Segment that issues are appended to. */
  open: number;
  /** Newest indexed issue. */
  newest: string;
  /** Cursor of the next page of older issues; null if all are indexed, or as many as fit. */
  older: string | null;
}

/** Decoded parts, which an isolate caches: a run reads only what changed. */
interface CachedIndex {
  head: Head;
  stored: Segment[];
  /** Issues created since the last run of the schedule; undefined until {@link SimilarIndex.recall}. */
  recent: Segment[] | undefined;
}

const cached = new Map<string, CachedIndex>();

/** Clears the cache, which a new isolate does not have. */
export function forgetIndexes(): void {
  cached.clear();
}

export class SimilarIndex {
  readonly head: Head;
  readonly #kv: Stored;
  readonly #team: string;
  readonly #slotsMax: number;
  readonly #parts: CachedIndex;

  constructor(kv: Stored, team: string, slotsMax: number, parts: CachedIndex) {
    this.#kv = kv;
    this.#team = team;
    this.#slotsMax = slotsMax;
    this.#parts = parts;
    this.head = parts.head;
  }

  get segments(): readonly Segment[] {
    return [...this.#parts.stored, ...(this.#parts.recent ?? [])];
  }

  get stored(): readonly Segment[] {
    return this.#parts.stored;
  }

  /** Maximum number of stored issues. */
  get sizeMax(): number {
    return this.#slotsMax * segmentIssuesMax;
  }

  /** True if this isolate may have missed events since the last run of the schedule. */
  get isForgetful(): boolean {
    return this.#parts.recent === undefined;
  }

  /** Adds recent issues, newest first, after which the isolate has seen all events. */
  recall(entries: readonly Entry[]): void {
    this.#parts.recent = [];
    const known = idsOf(this.stored);
    for (const entry of entries.toReversed()) if (!known.has(entry.id)) this.addRecent(entry);
  }

  addRecent(entry: Entry): void {
    const recent = (this.#parts.recent ??= []);
    if (recent.some(({ ids }) => ids.includes(entry.id))) return;
    let last = recent.at(-1);
    if (!last || last.ids.length >= segmentIssuesMax) recent.push((last = buildSegment([])));
    addEntry(last, entry);
    if (recent.length > recentSegmentsMax) recent.shift();
  }

  /** Appends issues to the stored segments; `save` must follow. */
  async append(entries: readonly Entry[], nowMs: number): Promise<void> {
    const { head } = this;
    const { stored } = this.#parts;
    for (let rest = entries; rest.length > 0;) {
      let segment = stored[head.open];
      if (!segment || segment.ids.length >= segmentIssuesMax) {
        head.open = stored.length < this.#slotsMax ? stored.length : (head.open + 1) % this.#slotsMax;
        segment = buildSegment([]);
      }
      const fits = segmentIssuesMax - segment.ids.length;
      for (const entry of rest.slice(0, fits)) addEntry(segment, entry);
      rest = rest.slice(fits);
      await this.write(head.open, segment, nowMs);
    }
  }

  async write(slot: number, segment: Segment, nowMs: number): Promise<void> {
    const { head } = this;
    this.#parts.stored[slot] = segment;
    head.stamps[slot] = (head.stamps[slot] ?? 0) + 1;
    head.readAt[slot] = nowMs;
    await this.#kv.set(segmentKey(this.#team, slot), encodeSegment(segment));
  }

  /** Deletes the segments beyond the limit, after teams were added to the workspace. */
  async shrink(): Promise<void> {
    const { head } = this;
    const { stored } = this.#parts;
    while (stored.length > this.#slotsMax) {
      stored.pop();
      head.stamps.pop();
      head.readAt.pop();
      head.open = Math.min(head.open, stored.length - 1);
      await this.#kv.delete(segmentKey(this.#team, stored.length));
    }
  }

  save(): Promise<void> {
    const parts = this.#parts;
    parts.recent = withoutStored(parts.recent, parts.stored);
    return this.#kv.set(headKey(this.#team), this.head);
  }
}

/** @param teams number of teams, which share the space of a workspace */
export async function readIndex(kv: Stored, team: string, teams: number): Promise<SimilarIndex> {
  const head = asHead(await kv.get(headKey(team)));
  const known = cached.get(team) ?? { head: asHead(null), stored: [], recent: undefined };
  const stored: Segment[] = [];
  for (const [slot, stamp] of head.stamps.entries()) {
    const own = known.head.stamps[slot] === stamp ? known.stored[slot] : undefined;
    stored.push(own ?? decodeSegment(await kv.get(segmentKey(team, slot))) ?? buildSegment([]));
  }
  const isChanged = stored.some((segment, slot) => segment !== known.stored[slot]);
  const recent = isChanged ? withoutStored(known.recent, stored) : known.recent;
  const parts = { head, stored, recent };
  if (cached.size >= indexesCachedMax && !cached.has(team)) cached.clear();
  cached.set(team, parts);
  return new SimilarIndex(kv, team, slotsFor(teams), parts);
}

export function idsOf(segments: readonly Segment[]): Set<string> {
  return new Set(segments.flatMap(({ ids }) => ids));
}

/** Drops recent segments whose issues the schedule has stored. */
function withoutStored(
  recent: readonly Segment[] | undefined,
  stored: readonly Segment[],
): Segment[] | undefined {
  const known = idsOf(stored);
  return recent?.filter(({ ids }) => !ids.every((id) => known.has(id)));
}

function slotsFor(teams: number): number {
  const bytes = workspaceBytesMax / Math.max(1, teams) - modelBytesMax;
  return Math.max(1, Math.min(segmentsMax, Math.floor(bytes / segmentBytesMax)));
}

function asHead(stored: unknown): Head {
  const isHead =
    typeof stored === 'object' && stored !== null && 'version' in stored && stored.version === indexVersion;
  return isHead
    ? (stored as Head)
    : { version: indexVersion, stamps: [], readAt: [], open: 0, newest: '', older: '' };
}

const headKey = (team: string): string => `similar:${team}`;
const segmentKey = (team: string, slot: number): string => `similar:${team}:${slot}`;
