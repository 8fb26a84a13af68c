// The Store interface: only registered reads and atomic guarded batches, so that the same code can run over the embedded file and, later,
// over a libSQL server. There are no interactive transactions. docs/spec/durability.md › The store.
import type { BillingAccount } from '../lib/billing-account.ts';
import type { Archive } from './files/archive.ts';
import type { Params, SqlRow, Statement } from './statement.ts';

declare const scopeBrand: unique symbol;

/** Capability to read and write one workspace; created only where the principal of a request is established. */
export interface Scope extends BillingAccount {
  readonly [scopeBrand]: true;
}

/**
 * @param workspaceId from an authenticated principal or from the job being processed
 * @param party see `BillingAccount`
 */
export function scopeOf(workspaceId: string, billingAccount: string | null = null, party?: string): Scope {
  return (
    party === undefined ? { workspaceId, billingAccount } : { workspaceId, billingAccount, party }
  ) as Scope;
}

export interface OpOptions {
  readonly expectRows?: 1;
  /** Receives the returned rows after the batch is durable and `commit` has resolved. */
  readonly taken?: (rows: readonly SqlRow[]) => void;
}

/** One write of a batch. `expectRows: 1` is a compare-and-set: any other number of changed rows rolls back the whole batch. */
export interface Op extends OpOptions {
  readonly statement: Statement<unknown>;
  readonly params: Params;
  readonly scope: Scope | null;
}

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

/** `rows[i]` are the rows that op `i` returned. A failed batch changed nothing; `op` is the index of the failed op. */
export type CommitOutcome =
  | { readonly ok: true; readonly rows: readonly (readonly SqlRow[])[] }
  | {
      readonly ok: false;
      readonly op: number;
      readonly reason: 'lost_race' | 'duplicate' | 'constraint';
      readonly message: string;
    };

export interface CommitOptions {
  /**
   * Maximum delay of a background batch, so that it can share a sync with others. One group is synced at a time, so many small background
   * groups would delay requests.
   */
  readonly commitDelayMs?: number;
}

/** Commit delay of background work: runs, deliveries and their planning. */
export const backgroundCommitDelayMs = 5;

export interface Reads {
  read<R>(scope: Scope, statement: Statement<R>, params?: Params): Promise<R[]>;
  readOne<R>(scope: Scope, statement: Statement<R>, params?: Params): Promise<R | undefined>;
  readSystem<R>(statement: Statement<R>, params?: Params): Promise<R[]>;
}

/** Batch that reads on the event loop include from now on. */
export interface CommittedBatch {
  readonly ops: readonly Op[];
  /** Rows that each op returned. */
  readonly rows: readonly (readonly SqlRow[])[];
}

export interface Store extends Reads {
  readonly archive: Archive;
  /**
   * Calls the listener whenever reads on the event loop come to include further batches, before any caller of `commit` continues. The
   * batches are those of this store in the order of the log; null if others may have written, too.
   */
  onIncluded(listener: (batches: readonly CommittedBatch[] | null) => void): void;
  /** Commits a batch atomically; durable (fsync) once resolved. @throws StoreError */
  commit(ops: readonly Op[], options?: CommitOptions): Promise<CommitOutcome>;
  /**
   * Returns up to `pages` free pages to the disk. Resolves with the remaining number of pages and of free pages in the file; null if that
   * is unknown.
   */
  reclaim(pages: number): Promise<{ readonly pages: number; readonly free: number } | null>;
  status(): { writable: boolean; reason: string | null };
  /** Numbers of batches and of groups (one sync each) committed since the start. */
  counts(): { readonly batches: number; readonly groups: number };
  close(): Promise<void>;
}

export type StoreFault = 'busy' | 'full' | 'read_only' | 'damaged' | 'broken';

/** The store failed. No change of the batch was stored, except for `broken`, after which the state is unknown. */
export class StoreError extends Error {
  readonly fault: StoreFault;
  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreError';
    this.fault = fault;
  }
}
