// The shape of the work on a gap: a gap that a worker holds, and one step of what is done with it.
import type { WorkItem, WorkQueue } from '../../events/work.ts';
import type { Install } from '../installs/schema.ts';
import type { GapRow } from './rows.ts';

/** A gap that its worker holds, of an install that is on. */
interface HeldGap {
  readonly item: WorkItem;
  readonly queue: WorkQueue;
  readonly gap: GapRow;
  readonly install: Install;
}

/** One step of the work on a gap. @returns whether there may be another one to do now */
export type GapStep = (held: HeldGap) => Promise<boolean>;
