// Subscribers that are known to have no stored work, so that their ordered units need no search for an earlier one.
// All rows are added through the queue of the one process that uses the data directory.
import { createLru } from '../../../platform/lib/lru.ts';
import type { Scope } from '../../../platform/store/store.ts';

/** Limit of subscribers in memory; for others, the database is searched. */
const rememberedMax = 10_000;

export class WithoutRows {
  readonly #known = createLru<string, true>(rememberedMax);
  /** Number of additions, which invalidate a search that is under way. */
  #additions = 0;

  /** Must be called in the turn in which a commit of rows becomes known. */
  noteAdded({ workspaceId }: Scope, subject: string): void {
    this.#additions++;
    this.#known.delete(`${workspaceId} ${subject}`);
  }

  /** @param hasRows searches the database */
  async includes({ workspaceId }: Scope, subject: string, hasRows: () => Promise<boolean>): Promise<boolean> {
    const key = `${workspaceId} ${subject}`;
    if (this.#known.has(key)) return true;
    const additions = this.#additions;
    if (await hasRows()) return false;
    if (additions === this.#additions) this.#known.set(key, true);
    return true;
  }
}
