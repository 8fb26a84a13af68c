// Index of a team in `kv`: `similar:KEY` has the latest issues, one text each, and the stamps of the segments
// `similar:KEY:SLOT`. The isolate caches decoded segments by stamp, so a run reads only what changed. Full segments
// are reused in turn, which forgets the oldest issues.
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
/** Issues that are appended to a segment together, because a segment is 20 times as large as they are. */
const latestMax = 16;
const segmentsMax = 16;
/** Limit of all models and indexes of a workspace, and upper bounds of their parts. */
const workspaceBytesMax = 5_000_000;
const modelBytesMax = 210_000;
const segmentBytesMax = 26_000;
const indexesCachedMax = 8;

interface Head {
  readonly version: number;
  /** Latest issues: `ID CODE CODE …`, the codes in base 36. */
  latest: string[];
  /** Stamp of each segment; it changes with the segment. */
  stamps: number[];
  /** Segment that issues are appended to. */
  open: number;
  /** Unix milliseconds at which each segment was last read from its issues. */
  readAt: number[];
  /** Newest indexed issue. */
  newest: string;
  /** Cursor of the next page of older issues; null if all are indexed, or as many as fit. */
  older: string | null;
}

export class SimilarIndex {
  readonly segments: readonly Segment[];
  readonly head: Head;
  readonly #kv: Stored;
  readonly #team: string;
  readonly #segments: Segment[];
  readonly #latest: Segment;
  readonly #slotsMax: number;

  constructor(kv: Stored, team: string, slotsMax: number, parts: CachedIndex) {
    this.#kv = kv;
    this.#team = team;
    this.#slotsMax = slotsMax;
    this.head = parts.head;
    this.#segments = parts.segments;
    this.#latest = parts.latest;
    this.segments = [...parts.segments, parts.latest];
  }

  ids(): Set<string> {
    return new Set(this.segments.flatMap(({ ids }) => ids));
  }

  get sizeMax(): number {
    return this.#slotsMax * segmentIssuesMax;
  }

  /** Adds a new issue and stores the index. */
  async add(entry: Entry): Promise<void> {
    const { head } = this;
    head.newest = entry.id;
    if (head.latest.length < latestMax) {
      head.latest.push(encodeEntry(entry));
      addEntry(this.#latest, entry);
    } else {
      await this.append([...head.latest.map(decodeEntry), entry], 0);
      head.latest = [];
    }
    await this.save();
  }

  /** Appends issues to the segments without storing the head. */
  async append(entries: readonly Entry[], nowMs: number): Promise<void> {
    const { head } = this;
    for (let rest = entries; rest.length > 0;) {
      let segment = this.#segments[head.open];
      if (!segment || segment.ids.length >= segmentIssuesMax) segment = this.#openNext();
      const fits = segmentIssuesMax - segment.ids.length;
      for (const entry of rest.slice(0, fits)) addEntry(segment, entry);
      rest = rest.slice(fits);
      await this.write(head.open, segment, nowMs);
    }
  }

  #openNext(): Segment {
    const { head } = this;
    head.open =
      this.#segments.length < this.#slotsMax ? this.#segments.length : (head.open + 1) % this.#slotsMax;
    const segment = buildSegment([]);
    this.#segments[head.open] = segment;
    return segment;
  }

  async write(slot: number, segment: Segment, nowMs: number): Promise<void> {
    const { head } = this;
    this.#segments[slot] = segment;
    head.stamps[slot] = (head.stamps[slot] ?? 0) + 1;
    head.readAt[slot] = nowMs || (head.readAt[slot] ?? 0);
    await this.#kv.set(segmentKey(this.#team, slot), encodeSegment(segment));
  }

  /** Deletes the segments beyond the limit, after teams were added to the workspace. */
  async shrink(): Promise<void> {
    const { head } = this;
    while (this.#segments.length > this.#slotsMax) {
      await this.#kv.delete(segmentKey(this.#team, this.#segments.length - 1));
      this.#segments.pop();
      head.stamps.pop();
      head.readAt.pop();
      head.open = Math.min(head.open, this.#segments.length - 1);
    }
  }

  save(): Promise<void> {
    return this.#kv.set(headKey(this.#team), this.head);
  }
}

interface CachedIndex {
  readonly head: Head;
  readonly segments: Segment[];
  readonly latest: Segment;
}

const cached = new Map<string, CachedIndex>();

/** @param teams number of teams, which share the space of a workspace */
export async function readIndex(kv: Stored, team: string, teams: number): Promise<SimilarIndex> {
  const head = asHead(await kv.get(headKey(team)));
  const known = cached.get(team);
  const segments: Segment[] = [];
  for (const [slot, stamp] of head.stamps.entries()) {
    const own = known?.head.stamps[slot] === stamp ? known.segments[slot] : undefined;
    segments.push(own ?? decodeSegment(await kv.get(segmentKey(team, slot))) ?? buildSegment([]));
  }
  const entries = head.latest.map(decodeEntry);
  const isSame = known?.latest.ids.join() === entries.map(({ id }) => id).join();
  const parts = { head, segments, latest: isSame && known ? known.latest : buildSegment(entries) };
  if (cached.size >= indexesCachedMax && !known) cached.clear();
  cached.set(team, parts);
  return new SimilarIndex(kv, team, slotsFor(teams), parts);
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
    : { version: indexVersion, latest: [], stamps: [], open: 0, readAt: [], newest: '', older: '' };
}

function encodeEntry({ id, codes }: Entry): string {
  return `${id} ${codes.map((code) => code.toString(36)).join(' ')}`;
}

function decodeEntry(text: string): Entry {
  const [id = '', ...codes] = text.split(' ');
  return { id, codes: codes.filter((code) => code !== '').map((code) => Number.parseInt(code, 36)) };
}

const headKey = (team: string): string => `similar:${team}`;
const segmentKey = (team: string, slot: number): string => `similar:${team}:${slot}`;
