// What the role of a member lets them do beyond the scopes of a key.
import type { Context } from '../../context.ts';
import { memberKind } from './members.ts';

type Member = NonNullable<Awaited<ReturnType<typeof memberKind.find>>>;

/** The member behind the caller. Nobody stands behind a plugin, whoever installed it. */
export async function callingMember(ctx: Context): Promise<Member | undefined> {
  const { kind, memberId } = ctx.actor;
  return kind === 'plugin' || memberId === undefined ? undefined : memberKind.find(ctx, memberId);
}

export function isAdmin(member: Pick<Member, 'role'> | undefined): boolean {
  return member?.role === 'owner' || member?.role === 'admin';
}
