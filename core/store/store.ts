// The Store: registered reads and atomic guarded batches, and nothing else, so that the same code runs over the embedded
// file and, later, over a libSQL server. There are no interactive transactions. docs/spec/durability.md › The store.
import type { Payer } from '../lib/payer.ts';
import type { Archive } from './archive.ts';
import type { Params, Row, Statement } from './statement.ts';

declare const scopeBrand: unique symbol;

/** The right to read and write one workspace; made where a request's principal is established, and nowhere else. */
export interface Scope extends Payer {
  readonly [scopeBrand]: true;
}

/**
 * @param workspaceId taken from an authenticated principal or from the work row being served.
 * @param party see `Payer`
 */
export function scopeOf(workspaceId: string, payer: string | null = null, party?: string): Scope {
  return (party === undefined ? { workspaceId, payer } : { workspaceId, payer, party }) as Scope;
}

/** One write of a batch. `expectRows: 1` is a compare-and-set: any other count undoes the whole batch. */
export interface Op {
  readonly statement: Statement<unknown>;
  readonly params: Params;
  readonly scope: Scope | null;
  readonly expectRows?: 1;
  /** Takes the rows that it returned, once the batch is durable and whoever committed it has been told. */
  readonly taken?: (rows: readonly Row[]) => void;
}

type OpOptions = Pick<Op, 'expectRows' | 'taken'>;

export function tenantOp(
  scope: Scope,
  statement: Statement<unknown>,
  params: Params,
  options: OpOptions = {},
): Op {
  return { statement, params, scope, ...options };
}

export function systemOp(statement: Statement<unknown>, params: Params, options: OpOptions = {}): Op {
  return { statement, params, scope: null, ...options };
}

/** `rows[i]` are the rows that op `i` returned. A failed batch left nothing behind; `op` is the index that failed it. */
export type CommitOutcome =
  | { readonly ok: true; readonly rows: readonly (readonly Row[])[] }
  | {
      readonly ok: false;
      readonly op: number;
      readonly reason: 'lost_race' | 'duplicate' | 'constraint';
      readonly message: string;
    };

export interface CommitOptions {
  /**
   * Nobody waits for this batch: it may wait this long for others to share a sync with. One group is synced at a time, so many
   * small ones would hold up those that somebody waits for.
   */
  readonly commitDelayMs?: number;
}

/** The commit delay of work that goes on behind the scenes: runs, deliveries and their planning. */
export const backgroundCommitDelayMs = 5;

export interface Store {
  readonly archive: Archive;
  read<R>(scope: Scope, statement: Statement<R>, params?: Params): Promise<R[]>;
  readOne<R>(scope: Scope, statement: Statement<R>, params?: Params): Promise<R | undefined>;
  readSystem<R>(statement: Statement<R>, params?: Params): Promise<R[]>;
  /** All or nothing; durable (fsync) once resolved. @throws StoreError */
  commit(ops: readonly Op[], options?: CommitOptions): Promise<CommitOutcome>;
  /**
   * Gives up to so many pages that hold nothing back to the disk. The pages that the file takes afterwards, and how many of them hold
   * nothing; null where that cannot be told now.
   */
  reclaim(pages: number): Promise<{ readonly pages: number; readonly free: number } | null>;
  status(): { writable: boolean; reason: string | null };
  /** Batches, and groups of them with one sync each, that were committed since the start. */
  counts(): { readonly batches: number; readonly groups: number };
  close(): Promise<void>;
}

export type StoreFault = 'busy' | 'full' | 'read_only' | 'damaged' | 'broken';

/** The store could not do its work. Nothing of the batch was kept, but for `broken`, after which nobody knows. */
export class StoreError extends Error {
  readonly fault: StoreFault;
  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreError';
    this.fault = fault;
  }
}
