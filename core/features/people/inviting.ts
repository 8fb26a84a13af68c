// API routes that invite a member and withdraw the invitation.
import { Type } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity, isoTime, requireVersion } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { ApiError, notFound } from '../../platform/lib/errors/errors.ts';
import { Closed, described, namedSchema, nameOf, nullable, time } from '../../platform/lib/schema.ts';
import { member } from './contract.ts';
import { makerOf, stillMayOp } from './delegation.ts';
import { memberModel } from './model.ts';
import { callingMember, requireMayChange } from './roles.ts';
import { workspaceModel } from './workspace.ts';
import { invitationDays, isInvited, newInvitation, withdrawOp } from './invitations.ts';
import type { Message } from '../../platform/lib/mail.ts';

const Invitation = namedSchema(
  'Invitation',
  Closed({
    url: Type.String({
      description:
        'Invitation link, shown only in this response. Any person who opens it can sign up as the member.',
    }),
    expiresAt: described(time, 'Time at which the link expires. The link works once.'),
    sentTo: nullable(
      Type.String({
        description:
          'Address to which the invitation is mailed; null if the server sends no mail or the member has no address.',
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
    summary: 'Invite a member to create an account',
    description: `Creates a link that works once within ${invitationDays} days and replaces an earlier one. The link ends when the role or the address of the member changes. If the server sends mail and the member has an address, a separate link is mailed, which also verifies the address; the link in the response is for passing on by other means.`,
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

interface Invited {
  readonly url: string;
  readonly to: string;
  /** Name of the inviter. */
  readonly by: string;
  readonly workspace: string;
}

function invitationMail({ baseUrl }: Context, { url, to, by, workspace }: Invited): Message {
  return {
    to,
    subject: `${by} invites you to ${workspace} on Tatami`,
    text: [
      `${by} invites you to the workspace ${workspace} on ${baseUrl}.`,
      `To accept, open this link within ${invitationDays} days. The link works once; do not share it:`,
      url,
    ].join('\n\n'),
  };
}

/**
 * Requires the right to add a member with the role of the invited member.
 * @throws ApiError not_found, forbidden, insufficient_scope; conflict for a member who has joined
 */
async function invite(ctx: Context, id: string): Promise<ChangeSet> {
  const invited = await getEntity(ctx, memberModel, id);
  await requireMayChange(ctx, null, invited);
  if (invited.joinedAt !== null)
    throw new ApiError(
      'conflict',
      `${invited.name} has joined already. To replace a forgotten password, use the link on the sign-in page.`,
    );
  // The mail names a person, because the invitee does not know the names of API keys.
  const by = (await callingMember(ctx))?.name ?? ctx.actor.name;
  const { url, mailedUrl, expiresAt, op } = newInvitation(ctx, ctx.scope, {
    member: invited,
    by,
    maker: makerOf(ctx),
  });
  const { mail } = ctx;
  const sentTo = mail ? invited.email : null;
  const body = { url, expiresAt: isoTime(expiresAt), sentTo };
  const set = { changes: [], ops: [stillMayOp(ctx), op], body };
  if (!mail || sentTo === null) return set;
  const { name: workspace } = await getEntity(ctx, workspaceModel, ctx.workspaceId);
  const letter = invitationMail(ctx, { url: mailedUrl, to: sentTo, by, workspace });
  return { ...set, afterCommit: () => mail.post(letter) };
}

/**
 * @param ifMatch version of the member
 * @throws ApiError not_found, also without an invitation; forbidden, precondition_failed
 */
async function uninvite(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const invited = await getEntity(ctx, memberModel, id);
  await requireMayChange(ctx, invited, null);
  if (!(await isInvited(ctx.store, ctx.scope, invited.id))) throw notFound();
  requireVersion(invited, ifMatch);
  return { changes: [], ops: [withdrawOp(ctx.scope, invited.id)], body: undefined };
}
