// What a plugin run has written so far, not yet committed: one merged change per entity. Reads by id see it, so that a
// handler reads its own writes; everything commits with the run, or nothing does. Plugin contract › Effectively-once.
import type { Change, Entity } from './change.ts';

export class Staging {
  readonly #changes = new Map<string, Change>();
  #effects = 0;

  /** Number of writes staged, merged ones counted singly: the limit on effects counts attempts, not rows. */
  get effects(): number {
    return this.#effects;
  }

  get changes(): readonly Change[] {
    return [...this.#changes.values()];
  }

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      const key = `${change.kind}:${change.id}`;
      const earlier = this.#changes.get(key);
      this.#changes.set(key, earlier ? earlier.followedBy(change) : change);
      this.#effects++;
    }
  }

  find(kind: string, id: string): Entity | undefined {
    return this.#changes.get(`${kind}:${id}`)?.after;
  }
}
