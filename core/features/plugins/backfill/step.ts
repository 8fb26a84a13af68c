import type { WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { Install } from '../installs/schema.ts';
import type { BackfillRow } from './rows.ts';

/** Gap of an active install, leased by its worker. */
interface LeasedBackfill {
  readonly item: WorkItem;
  readonly queue: WorkQueue;
  readonly backfill: BackfillRow;
  readonly install: Install;
}

/** @returns true if another step can follow at once */
export type BackfillStep = (leased: LeasedBackfill) => Promise<boolean>;
