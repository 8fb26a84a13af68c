// Types of the work on a gap.
import type { WorkItem, WorkQueue } from '../../events/work.ts';
import type { Install } from '../installs/schema.ts';
import type { BackfillRow } from './rows.ts';

/** A gap leased by its worker, of an active install. */
interface LeasedBackfill {
  readonly item: WorkItem;
  readonly queue: WorkQueue;
  readonly backfill: BackfillRow;
  readonly install: Install;
}

/** One step of the work on a gap. @returns true if another step may be possible now */
export type BackfillStep = (leased: LeasedBackfill) => Promise<boolean>;
