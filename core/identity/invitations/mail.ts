import type { Context } from '../../context.ts';
import type { Message } from '../../lib/mail.ts';
import { invitationDays } from './invitations.ts';

interface Invited {
  readonly url: string;
  readonly to: string;
  /** Name of the inviter. */
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
      `To accept, open this link within ${invitationDays} days. The link works once; do not share it:`,
      url,
    ].join('\n\n'),
  };
}
