import { takeSeatOp } from '../../core/features/people/accounts.ts';
import type { FirstWorkspace } from '../../core/app/setup/first-workspace.ts';
import type { TestApp } from '../app.ts';
import type { Person } from '../identity/person.ts';

/** Seats the person as the owner of another workspace. */
export async function takeSeat(
  { services: { store, nowMs } }: TestApp,
  { accountId }: Person,
  { workspaceId, userId }: FirstWorkspace,
): Promise<void> {
  await store.commit([takeSeatOp(accountId, workspaceId, userId, nowMs())]);
}
