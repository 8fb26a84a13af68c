// Tells somebody by mail that how they sign in was changed, so that they hear of it where it was not they (OWASP ASVS 5.0 §6.3.7).
import type { Services } from '../../context.ts';

/** @param to the address that the account had before. @param what a sentence: `The password was changed.` */
export function noticeOf(
  { mail, baseUrl }: Pick<Services, 'mail' | 'baseUrl'>,
  to: string,
  what: string,
): void {
  mail?.post({
    to,
    subject: 'Your account was changed',
    text: [
      `${what} This is about your account on ${baseUrl}.`,
      `If it was not you, choose another password at once: ${baseUrl}/reset. If you cannot, tell whoever runs the server.`,
    ].join('\n\n'),
  });
}
