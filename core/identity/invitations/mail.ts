// The mail that brings an invitation.
import type { Context } from '../../context.ts';
import type { Message } from '../../lib/mail.ts';
import { invitationDays } from './invitations.ts';

interface Invited {
  readonly url: string;
  readonly to: string;
  /** Names, of who invites and of the workspace. */
  readonly by: string;
  readonly workspace: string;
}

export function invitationMail(
  { baseUrl }: Pick<Context, 'baseUrl'>,
  { url, to, by, workspace }: Invited,
): Message {
  return {
    to,
    subject: `${by} invites you to ${workspace} on Tatami`,
    text: [
      `${by} invites you to the workspace ${workspace} on ${baseUrl}.`,
      `Open this link within ${invitationDays} days. It works once, so do not pass it on:`,
      url,
    ].join('\n\n'),
  };
}
