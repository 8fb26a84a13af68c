import { addMembershipOp } from '../../../core/features/people/accounts.ts';
import type { FirstWorkspace } from '../../../core/app/setup/first-workspace.ts';
import type { TestApp } from '../../app.ts';
import type { Person } from '../sign-in/person.ts';

/** Adds the person as the owner of another workspace. */
export async function addMembership(
  { services: { store, nowMs } }: TestApp,
  { accountId }: Person,
  { workspaceId, userId }: FirstWorkspace,
): Promise<void> {
  await store.commit([addMembershipOp(accountId, workspaceId, userId, nowMs())]);
}
