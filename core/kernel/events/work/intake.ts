// Receives rows that became due: passes leased rows to the workers, and notes the subscribers of rows over
// quota.
import type { SqlRow } from '../../../platform/store/statement.ts';
import { scopeOf, type Scope } from '../../../platform/store/store.ts';
import { overQuotaMs, neverMs } from './rows.ts';
import type { Behind } from './behind.ts';
import type { WorkItem } from './workers.ts';

/** @param scope null if each row names its workspace */
export type Intake = (scope: Scope | null, returned: readonly SqlRow[]) => void;

export function createIntake(options: {
  behind: Behind;
  hold(item: WorkItem): void;
  /** Called when work without a lease is or will be due. */
  onDue(): void;
}): Intake {
  return (scope, returned) => {
    for (const row of returned) {
      const subject = String(row.subject);
      const billingAccount = scopeOf(scope?.workspaceId ?? String(row.workspace_id), subject);
      // The lease decides, not the clock, which may have been set back since.
      if (Number(row.lease_until) > 0)
        options.hold({ scope: billingAccount, id: String(row.id), epoch: Number(row.epoch) });
      else {
        if (row.due_at === overQuotaMs) options.behind.note(billingAccount, subject);
        if (row.due_at !== neverMs) options.onDue();
      }
    }
  };
}
