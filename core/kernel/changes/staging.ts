// Uncommitted writes of a plugin run: one merged change per entity. Reads by id include them, so that a handler reads its own writes. They
// are committed with the run, all or none. docs/spec/plugins.md › Effectively once.
import type { FairQuota } from '../../platform/lib/fairness/fair-quota.ts';
import type { Op } from '../../platform/store/store.ts';
import type { Change, Entity } from './change.ts';
import type { ReadSet } from './reads.ts';
import type { Past } from './find.ts';

/** Limit of the staged characters of all runs, which workspaces and installs share by quota. */
export const stagedCharsMax = 128 * 1024 * 1024;
/** Limit of the staged characters of one run. */
const runCharsMax = 8 * 1024 * 1024;

/** A write as requested, so that it can be executed again: later, or without the other writes. */
export interface RequestedWrite {
  /** Name of the route, such as `issues.update`, or of a call without a route, such as `kv.set`. */
  readonly operation: string;
  /** JSON of `params`, `query`, `body` and `ifMatch` of a route, or of `args` of another call. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Ids that the plan generated, in order; a later execution reuses them. */
  readonly ids: readonly string[];
}

export interface StagedWrite extends RequestedWrite {
  readonly changes: readonly Change[];
  /** Internal rows of the write; only a staging with `takesOps` has them. */
  readonly ops: readonly Op[];
}

interface StagingOptions {
  /** True if a write may include internal rows, which writes of plugins never do. */
  readonly takesOps?: boolean;
  /** Records reads; absent if reads are not verified. */
  readonly reads?: ReadSet | null;
  /** Past moment of reads and plans; a staging with a past moment is never committed. */
  readonly past?: Past | null;
}

export class Staging {
  /** Bounded by `runCharsMax`, because each change has at least an id. */
  readonly #changes = new Map<string, Change>();
  readonly #room: FairQuota;
  readonly #workspaceId: string;
  readonly #installId: string;
  readonly takesOps: boolean;
  readonly reads: ReadSet | null;
  readonly past: Past | null;
  /** Ordered by request, without writes that changed nothing. */
  readonly #writes: StagedWrite[] = [];
  #effects = 0;
  #chars = 0;

  constructor(
    quota: FairQuota,
    workspaceId: string,
    installId: string,
    { takesOps = false, reads = null, past = null }: StagingOptions = {},
  ) {
    this.takesOps = takesOps;
    this.reads = reads;
    this.past = past;
    this.#room = quota;
    this.#workspaceId = workspaceId;
    this.#installId = installId;
  }

  /** Number of staged writes. Merged ones count singly, because the limit on effects counts attempts, not rows. */
  get effects(): number {
    return this.#effects;
  }

  get changes(): readonly Change[] {
    return [...this.#changes.values()];
  }

  /** Reason why nothing more may be staged now; null if more may be. */
  get fullness(): string | null {
    if (this.#chars >= runCharsMax)
      return `A run may write at most ${runCharsMax} characters. Split the work into several runs.`;
    return this.#room.remaining(this.#workspaceId, this.#installId) > 0
      ? null
      : 'Other runs of this plugin or workspace use up the capacity for uncommitted writes. Try again later.';
  }

  /** Individual writes, which `changes` merges. */
  get writes(): readonly StagedWrite[] {
    return this.#writes;
  }

  add(changes: readonly Change[], request: RequestedWrite, ops: readonly Op[] = []): void {
    if (changes.length > 0 || ops.length > 0) {
      this.#writes.push({ ...request, changes, ops });
      this.#grow(charsIn(request.input));
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

  /** Releases the quota; must be called after the commit or the failure of the run. */
  release(): void {
    this.#grow(-this.#chars);
  }

  #grow(chars: number): void {
    this.#chars += chars;
    this.#room.take(this.#workspaceId, this.#installId, chars);
  }
}

/** Retains the version of the order that was read first, which the commit checks. */
function following(earlier: Change, later: Change): Change {
  const order = earlier.order ?? later.order;
  return { ...earlier.followedBy(later), ...(order ? { order } : {}) };
}

/** Counts the characters of texts, which are the long values. */
function charsOf({ before, after }: Change): number {
  let chars = 0;
  for (const entity of [before, after])
    for (const value of Object.values(entity ?? {})) if (typeof value === 'string') chars += value.length;
  return chars;
}

/** Counts the characters of texts in the input, at any depth. */
function charsIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let chars = 0;
  for (const inner of Object.values(value)) chars += charsIn(inner);
  return chars;
}
