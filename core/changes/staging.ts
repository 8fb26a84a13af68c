// What a plugin run has written so far, not yet committed: one merged change per entity. Reads by id see it, so that a
// handler reads its own writes; everything commits with the run, or nothing does. docs/spec/plugins.md › Effectively once.
import type { Shares } from '../lib/fairness/shares.ts';
import type { Op } from '../store/store.ts';
import type { Change, Entity } from './change.ts';
import type { ReadSet } from './reads.ts';
import type { Past } from './past.ts';

/** Characters that all runs together may have staged; workspaces and installs share them. */
export const stagedCharsMax = 128 * 1024 * 1024;
/** Of one run. */
const runCharsMax = 8 * 1024 * 1024;

/** One write as it was asked, so that it can be asked again: later, or without those beside it. */
export interface AskedWrite {
  /** The name of its route, `issues.update`, or of a call that goes past the door, `kv.set`. */
  readonly operation: string;
  /** As JSON: `params`, `query`, `body` and `ifMatch` of a route, `args` of another call. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The ids that its plan made, in order: asked again, it makes the same. */
  readonly ids: readonly string[];
}

/** What came of it. */
export interface StagedWrite extends AskedWrite {
  readonly changes: readonly Change[];
  /** Rows of the machinery that belong to it; only a staging that `takesOps` has such writes. */
  readonly ops: readonly Op[];
}

interface StagingOptions {
  /** Whether a write may bring rows of the machinery: those of plugins never do. */
  readonly takesOps?: boolean;
  /** Takes what is read meanwhile; absent where nobody will ask whether it still is so. */
  readonly reads?: ReadSet | null;
  /** The moment that its reads see, and its writes are planned against; such a staging is never committed. */
  readonly past?: Past | null;
}

export class Staging {
  /** Bounded by `runCharsMax`: each has at least an id. */
  readonly #changes = new Map<string, Change>();
  readonly #room: Shares;
  readonly #workspaceId: string;
  readonly #installId: string;
  readonly takesOps: boolean;
  readonly reads: ReadSet | null;
  readonly past: Past | null;
  /** In the order in which they were asked; those that changed nothing are left out. */
  readonly #writes: StagedWrite[] = [];
  #effects = 0;
  #chars = 0;

  constructor(
    room: Shares,
    workspaceId: string,
    installId: string,
    { takesOps = false, reads = null, past = null }: StagingOptions = {},
  ) {
    this.takesOps = takesOps;
    this.reads = reads;
    this.past = past;
    this.#room = room;
    this.#workspaceId = workspaceId;
    this.#installId = installId;
  }

  /** Number of writes staged, merged ones counted singly: the limit on effects counts attempts, not rows. */
  get effects(): number {
    return this.#effects;
  }

  get changes(): readonly Change[] {
    return [...this.#changes.values()];
  }

  /** Why nothing more may be staged now; null while it may. */
  get fullness(): string | null {
    if (this.#chars >= runCharsMax) return `A run writes at most ${runCharsMax} characters before it ends.`;
    return this.#room.room(this.#workspaceId, this.#installId) > 0
      ? null
      : 'Other runs of this plugin or workspace have written much that is not yet committed; try again later.';
  }

  /** Each write by itself, where `changes` holds what all of them come to. */
  get writes(): readonly StagedWrite[] {
    return this.#writes;
  }

  add(changes: readonly Change[], asked: AskedWrite, ops: readonly Op[] = []): void {
    if (changes.length > 0 || ops.length > 0) {
      this.#writes.push({ ...asked, changes, ops });
      this.#grow(charsIn(asked.input));
    }
    for (const change of changes) {
      const key = `${change.kind}:${change.id}`;
      const earlier = this.#changes.get(key);
      const merged = earlier ? following(earlier, change) : change;
      this.#changes.set(key, merged);
      this.#effects++;
      this.#grow(charsOf(merged) - (earlier ? charsOf(earlier) : 0));
    }
  }

  find(kind: string, id: string): Entity | undefined {
    return this.#changes.get(`${kind}:${id}`)?.after;
  }

  /** Gives its room back; to be called once it is committed or given up. */
  release(): void {
    this.#grow(-this.#chars);
  }

  #grow(chars: number): void {
    this.#chars += chars;
    this.#room.take(this.#workspaceId, this.#installId, chars);
  }
}

/** The place is guarded at the version of the order that was read first. */
function following(earlier: Change, later: Change): Change {
  const order = earlier.order ?? later.order;
  return { ...earlier.followedBy(later), ...(order ? { order } : {}) };
}

/** Of the long things in it, which are texts. */
function charsOf({ before, after }: Change): number {
  let chars = 0;
  for (const entity of [before, after])
    for (const value of Object.values(entity ?? {})) if (typeof value === 'string') chars += value.length;
  return chars;
}

/** Of the texts in what was asked, at any depth that a body has. */
function charsIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let chars = 0;
  for (const inner of Object.values(value)) chars += charsIn(inner);
  return chars;
}
