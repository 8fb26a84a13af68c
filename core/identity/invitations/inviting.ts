// How a member is invited over the API, and how that is taken back.
import { Type } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity, isoTime, requireVersion } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { ApiError, notFound } from '../../lib/errors.ts';
import { Closed, described, named, nameOf, nullable, time } from '../../lib/schema.ts';
import { member } from '../members/contract.ts';
import { makerOf, stillMayOp } from '../api-keys/handed.ts';
import { memberKind } from '../members/kind.ts';
import { callingMember, requireMayChange } from '../members/roles.ts';
import { workspaceKind } from '../workspace/workspace.ts';
import { invitationDays, isInvited, newInvitation, withdrawOp } from './invitations.ts';
import { invitationMail } from './mail.ts';

const Invitation = named(
  'Invitation',
  Closed({
    url: Type.String({
      description:
        'The link, shown this once: whoever opens it takes the seat of the member with an account.',
    }),
    expiresAt: described(time, 'The link works once, until then.'),
    sentTo: nullable(
      Type.String({
        description:
          'The address that a link is sent to; null where the server sends no mail, or the member has none.',
      }),
    ),
  }),
);
const params = Closed({ id: nameOf(member) });

export const invitationRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/v1/members/{id}/invitation',
    name: 'members.invite',
    summary: 'Invite a member to take the seat with an account',
    description: `Makes a link that works once, for ${invitationDays} days, in place of an earlier one. It ends when the role or the address of the member changes. Where the server sends mail and the member has an address, a link of its own is sent there, which also proves the address; the link in the answer is for handing over.`,
    scope: 'members:write',
    limit: 'write',
    params,
    errors: ['forbidden', 'conflict'],
    responses: { 200: Invitation },
    secret: true,
    write: (ctx, { params: { id } }) => invite(ctx, id),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/members/{id}/invitation',
    name: 'members.uninvite',
    summary: 'Withdraw the invitation of a member',
    scope: 'members:write',
    limit: 'write',
    params,
    errors: ['forbidden'],
    responses: { 204: null },
    write: (ctx, { params: { id }, ifMatch }) => uninvite(ctx, id, ifMatch),
  }),
];

/**
 * Whoever may add a member of that role may invite one.
 * @throws ApiError not_found, forbidden, insufficient_scope, conflict for a member whose seat is taken
 */
async function invite(ctx: Context, id: string): Promise<ChangeSet> {
  const invited = await getEntity(ctx, memberKind, id);
  await requireMayChange(ctx, null, invited);
  if (invited.joinedAt !== null)
    throw new ApiError(
      'conflict',
      `${invited.name} has taken the seat already. Who forgot the password asks for another on the sign-in page.`,
    );
  // Who is invited knows the person, and not the key.
  const by = (await callingMember(ctx))?.name ?? ctx.actor.name;
  const { url, mailedUrl, expiresAt, op } = newInvitation(ctx, ctx.scope, {
    ...{ member: invited, by },
    maker: makerOf(ctx),
  });
  const { mail } = ctx;
  const sentTo = mail ? invited.email : null;
  const body = { url, expiresAt: isoTime(expiresAt), sentTo };
  const set = { changes: [], ops: [stillMayOp(ctx), op], body };
  if (!mail || sentTo === null) return set;
  const { name: workspace } = await getEntity(ctx, workspaceKind, ctx.workspaceId);
  const letter = invitationMail(ctx, { url: mailedUrl, to: sentTo, by, workspace });
  return { ...set, afterCommit: () => mail.post(letter) };
}

/** @param ifMatch of the member. @throws ApiError not_found, also where there is none; forbidden, precondition_failed */
async function uninvite(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const invited = await getEntity(ctx, memberKind, id);
  await requireMayChange(ctx, invited, null);
  if (!(await isInvited(ctx.store, ctx.scope, invited.id))) throw notFound();
  requireVersion(invited, ifMatch);
  return { changes: [], ops: [withdrawOp(ctx.scope, invited.id)], body: undefined };
}
