// What a plugin run has written so far, not yet committed: one merged change per entity. Reads by id see it, so that a
// handler reads its own writes; everything commits with the run, or nothing does. docs/spec/plugins.md › Effectively once.
import type { Shares } from '../lib/fairness/shares.ts';
import type { Change, Entity } from './change.ts';

/** Characters that all runs together may have staged; workspaces and installs share them. */
export const stagedCharsMax = 128 * 1024 * 1024;
/** Of one run. */
const runCharsMax = 8 * 1024 * 1024;

export class Staging {
  /** Bounded by `runCharsMax`: each has at least an id. */
  readonly #changes = new Map<string, Change>();
  readonly #room: Shares;
  readonly #workspaceId: string;
  readonly #installId: string;
  #effects = 0;
  #chars = 0;

  constructor(room: Shares, workspaceId: string, installId: string) {
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

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      const key = `${change.kind}:${change.id}`;
      const earlier = this.#changes.get(key);
      const merged = earlier ? earlier.followedBy(change) : change;
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

/** Of the long things in it, which are texts. */
function charsOf({ before, after }: Change): number {
  let chars = 0;
  for (const entity of [before, after])
    for (const value of Object.values(entity ?? {})) if (typeof value === 'string') chars += value.length;
  return chars;
}
