// Mails a person when their sign-in methods change, so that they notice changes by somebody else (OWASP ASVS 5.0 §6.3.7).
import type { IdentityDeps } from '../deps.ts';

/**
 * @param to address of the account before the change
 * @param what a sentence such as `The password was changed.`
 */
export function noticeOf({ mail, baseUrl }: IdentityDeps, to: string, what: string): void {
  mail?.post({
    to,
    subject: 'Your account was changed',
    text: [
      `Your account on ${baseUrl} was changed. ${what}`,
      `If you did not make this change, reset your password now: ${baseUrl}/reset. If you cannot, contact your administrator.`,
    ].join('\n\n'),
  });
}
