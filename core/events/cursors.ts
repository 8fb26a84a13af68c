// Where a consumer stands in the log of each workspace: in memory, and behind that in the database, which is what counts after a
// start and for workspaces that were forgotten.
import { LRUCache } from 'lru-cache';
import { tenantStatement } from '../store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Op, type Scope, type Store } from '../store/store.ts';

/** Without work the cursor is only moved in the database this often (events): re-reading what matched nothing is harmless. */
export const idleCursorEvents = 2_000;
/** Workspaces whose place is remembered. */
export const placesMax = 1_000;

const readCursor = tenantStatement<{ sequence: number }>(
  'cursors.read',
  'SELECT sequence FROM cursors WHERE workspace_id = :ws AND consumer = :consumer',
);
const moveCursor = tenantStatement(
  'cursors.move',
  `INSERT INTO cursors (workspace_id, consumer, sequence) VALUES (:ws, :consumer, :to)
   ON CONFLICT (workspace_id, consumer) DO UPDATE SET sequence = :to WHERE sequence = :from`,
);

export interface Work {
  readonly ops: readonly Op[];
}

interface Place {
  readonly at: number;
  /** As the database has it. */
  readonly stored: number;
}

export class Cursors {
  readonly #store: Store;
  readonly #consumer: string;
  readonly #places = new LRUCache<string, Place>({ max: placesMax });

  constructor(store: Store, consumer: string) {
    this.#store = store;
    this.#consumer = consumer;
  }

  async placeOf(scope: Scope): Promise<Place> {
    const known = this.#places.get(scope.workspaceId);
    if (known) return known;
    const row = await this.#store.readOne(scope, readCursor, { consumer: this.#consumer });
    const stored = row?.sequence ?? 0;
    const place = { at: stored, stored };
    this.#places.set(scope.workspaceId, place);
    return place;
  }

  /** Moves on in memory alone. */
  passOver(scope: Scope, { stored }: Place, to: number): void {
    this.#places.set(scope.workspaceId, { at: to, stored });
  }

  /** Stores work and moves on in the same batch; false where another process has moved on already. */
  async moveWith(scope: Scope, work: Work, to: number): Promise<boolean> {
    const { stored: from } = await this.placeOf(scope);
    const consumer = this.#consumer;
    const move = tenantOp(scope, moveCursor, { consumer, from, to }, { expectRows: 1 });
    const batch = [move, ...work.ops];
    const outcome = await this.#store.commit(batch, { commitDelayMs: backgroundCommitDelayMs });
    if (outcome.ok) {
      this.#places.set(scope.workspaceId, { at: to, stored: to });
      return true;
    }
    if (batch[outcome.op] !== move)
      throw new Error(`${consumer} planned work that cannot be stored: ${outcome.message}`);
    // Read on from where the cursor stands now.
    this.forget(scope.workspaceId);
    return false;
  }

  forget(workspaceId: string): void {
    this.#places.delete(workspaceId);
  }
}
