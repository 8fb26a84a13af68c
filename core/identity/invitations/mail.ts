// The mail that brings an invitation.
import type { Context } from '../../context.ts';
import type { Message } from '../../lib/mail.ts';
import { invitationDays } from './invitations.ts';

export function invitationMail(
  { actor, baseUrl }: Pick<Context, 'actor' | 'baseUrl'>,
  { url, to }: { url: string; to: string },
): Message {
  return {
    to,
    subject: `${actor.name} invites you to Tatami`,
    text: [
      `${actor.name} invites you to a workspace on ${baseUrl}.`,
      `Open this link within ${invitationDays} days. It works once, so do not pass it on:`,
      url,
    ].join('\n\n'),
  };
}
