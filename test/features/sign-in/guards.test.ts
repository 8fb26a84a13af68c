import { testGuards, type Guard } from '../../guards.ts';

const at = (suite: string, file: string) => ({
  suite: `test/features/${suite}.test.ts`,
  file,
});

const guards: readonly Guard[] = [
  {
    name: 'a form must come from a page of this server',
    ...at('people/account', 'core/kernel/html.ts'),
    guarding: '  if (!isOwn) throw',
    broken: '  if (false) throw',
  },
  {
    name: 'a form must come from the host of the base URL',
    ...at('sign-in/sign-in', 'core/kernel/html.ts'),
    guarding: ' && isAtOwnHost(request, baseUrl)',
    broken: '',
  },
  {
    name: 'a form without an origin header is accepted from the same origin only',
    ...at('people/account', 'core/kernel/html.ts'),
    guarding: "    site === 'same-origin'\n",
    broken: "    origin === 'null' || site === 'same-origin'\n",
  },
  {
    name: 'a form must come from a page of this session',
    ...at('people/account', 'core/features/sign-in/page-parts.ts'),
    guarding: "if (!isFormTokenOf({ formToken }, form.get('form_token')))",
    broken: 'if (false)',
  },
  {
    name: 'an invitation expires',
    ...at('people/invitations', 'core/features/people/invitations.ts'),
    guarding: ' OR i.mailed_hash = :hash) AND i.expires_at > :now`',
    broken: ' OR i.mailed_hash = :hash) AND :now > 0`',
  },
  {
    name: 'an invitation is used once, also under concurrency',
    ...at('people/invitations', 'core/features/people/invitations.ts'),
    guarding: '{ member: member.id, hash, now }, { expectRows: 1 });',
    broken: '{ member: member.id, hash, now });',
  },
  {
    name: 'a caller who cannot add a member cannot invite one',
    ...at('people/invitations', 'core/features/people/inviting.ts'),
    guarding: '  await requireMayChange(ctx, null, invited);\n',
    broken: '',
  },
  {
    name: 'a removed member has no membership',
    ...at('sign-in/sign-in', 'core/features/people/members.ts'),
    guarding: 'removeMembershipOp(ctx.scope, id), withdrawOp(ctx.scope, id)',
    broken: '',
  },
  {
    name: 'the token of an invitation is stored as a hash',
    ...at('people/invitations', 'core/platform/lib/secrets/tokens.ts'),
    guarding: "return createHash('sha256').update(token).digest('hex');",
    broken: 'return token;',
  },
  {
    name: 'the log contains no path of a page',
    ...at('people/invitations', 'core/kernel/http/kernel.ts'),
    guarding: "route.kind === 'inbound' ? route.path : ",
    broken: '',
  },
  {
    name: 'a short password is rejected',
    ...at('people/invitations', 'core/features/sign-in/passwords.ts'),
    guarding: 'if (length < passwordMin)',
    broken: 'if (length < 1)',
  },
  {
    name: 'a common password is rejected',
    ...at('people/invitations', 'core/features/sign-in/passwords.ts'),
    guarding: 'if (isCommon(lowerCased))',
    broken: 'if (isCommon(lowerCased) && false)',
  },
  {
    name: 'sign-in redirects only to this server',
    ...at('sign-in/sign-in', 'core/features/sign-in/page-parts.ts'),
    guarding: '!/^\\/(?![/\\\\])[^\\\\\\p{Cc}]*$/u.test(requested)',
    broken: 'requested === ""',
  },
  {
    name: 'an earlier session ends at sign-in',
    ...at('sign-in/sign-in', 'core/features/sign-in/sign-in.ts'),
    guarding: 'if (earlier) await sessions.end(earlier.accountId, earlier.sessionId);',
    broken: '',
  },
  {
    name: 'a page cannot be framed',
    ...at('sign-in/every-page', 'core/kernel/html.ts'),
    guarding: `    "frame-ancestors 'none'",\n`,
    broken: '',
  },
  {
    name: 'a planted session ends at sign-in',
    ...at('sign-in/every-page', 'core/features/sign-in/sign-in.ts'),
    guarding: 'if (earlier) await sessions.end(earlier.accountId, earlier.sessionId);',
    broken: '',
  },
  {
    name: 'sign-out ends the session, not only the cookie',
    ...at('sign-in/sign-in', 'core/features/sign-in/page.ts'),
    guarding: 'await sessions.end(who.accountId, who.sessionId);',
    broken: '',
  },
  {
    name: 'failed attempts at an account are counted',
    ...at('sign-in/sign-in', 'core/features/sign-in/limits.ts'),
    guarding: 'if (counted.some((one) => leftOf(one) < 1)) return false;',
    broken: '',
  },
  {
    name: 'failed attempts of a peer are counted',
    ...at('sign-in/sign-in', 'core/features/sign-in/limits.ts'),
    guarding: 'limit: failuresAnHour.peer },',
    broken: 'limit: 1e9 },',
  },
  {
    name: 'a known device is counted separately',
    ...at('sign-in/sign-in', 'core/features/sign-in/sign-in.ts'),
    guarding: 'else known.push({ accounts: [account], attempt: { subject: hashed, peer, device } });',
    broken: 'else strangers.push(account);',
  },
  {
    name: 'a device is known only to the account that signed in on it',
    ...at('sign-in/sign-in', 'core/features/sign-in/limits.ts'),
    guarding: 'tags.some((tag) => sealing.verify(text, purpose, tag))',
    broken: 'tags.length > 0',
  },
  {
    name: 'a new address requires recent authentication',
    ...at('people/account', 'core/features/sign-in/account/profile.ts'),
    guarding: 'about.email !== who.email && !isFresh(who, nowMs())',
    broken: 'false',
  },
  {
    name: 'a new password requires the current one',
    ...at('people/account', 'core/features/sign-in/account/password.ts'),
    guarding: 'if (!isRight) return { wrong',
    broken: 'if (false) return { wrong',
  },
  {
    name: 'a new password ends the other sessions',
    ...at('people/account', 'core/features/sign-in/account/password.ts'),
    guarding: '          endSessionsOp(who.accountId, who.sessionId),\n',
    broken: '',
  },
  {
    name: 'only the owner of an account ends its sessions',
    ...at('people/account', 'core/features/sign-in/sessions.ts'),
    guarding: "'DELETE FROM sessions WHERE account_id = :account AND id = :id'",
    broken: "'DELETE FROM sessions WHERE (:account = :account) AND id = :id'",
  },
  {
    name: 'a reset link works once',
    ...at('sign-in/mail', 'core/features/sign-in/resets.ts'),
    guarding: 'hash: tokenHash(token), now }, { expectRows: 1 }),\n    ...setPasswordOps',
    broken: 'hash: "", now }),\n    ...setPasswordOps',
  },
  {
    name: 'a reset link expires',
    ...at('sign-in/mail', 'core/features/sign-in/resets.ts'),
    guarding:
      "'SELECT account_id, by_mail FROM password_resets WHERE token_hash = :hash AND expires_at > :now'",
    broken: "'SELECT account_id, by_mail FROM password_resets WHERE token_hash = :hash AND :now > 0'",
  },
  {
    name: 'a password reset ends all sessions',
    ...at('sign-in/mail', 'core/features/sign-in/resets.ts'),
    guarding: '    endSessionsOp(account.id),\n',
    broken: '',
  },
  {
    name: 'reset links are counted',
    ...at('sign-in/mail', 'core/features/sign-in/limits.ts'),
    guarding: 'if (counted.some(({ isFull }) => isFull)) return false;',
    broken: '',
  },
  {
    name: 'an unencrypted remote mail server receives nothing',
    ...at('sign-in/mail', 'core/platform/lib/mail.ts'),
    guarding: 'requireTLS: !secure && !isHere,',
    broken: 'requireTLS: false,',
  },
  {
    name: 'few passwords are hashed at a time',
    ...at('people/crowd', 'core/features/sign-in/passwords.ts'),
    guarding: 'if (!slots.hasCapacityFor(sender, 1))',
    broken: 'if (placesMax < 0)',
  },
  {
    name: 'an invitation ends when its role or address changes',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/features/people/invitations.ts',
    guarding: `\n   AND m.role = i.role AND m.email_key IS i.email_key\`;`,
    broken: '`;',
  },
  {
    name: 'the first proof of a mailbox removes passkeys',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/features/sign-in/proof.ts',
    guarding: 'systemOp(deletePasskeysOf, { account: accountId }),',
    broken: '',
  },
  {
    name: 'a link delivered by hand does not prove an address',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/features/sign-in/join.ts',
    guarding: 'const isProven = invitation.isMailed && ',
    broken: 'const isProven = ',
  },
  {
    name: 'a new address is unproven',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/features/people/accounts.ts',
    guarding: 'CASE WHEN email_key = :key THEN email_verified_at END',
    broken: 'email_verified_at',
  },
  {
    name: 'a new password ends the reset links',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/features/people/accounts.ts',
    guarding: '    systemOp(deleteReset, { id: accountId }),\n',
    broken: '',
  },
  {
    name: 'signing out everywhere ends grants',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/features/oauth/grant-ending.ts',
    guarding: 'await revokeRows(options, rows);\n    }',
    broken: 'return;\n    }',
  },
  {
    name: 'an address denied by either source is unverified',
    suite: 'test/attacks/provider-claims.test.ts',
    file: 'core/features/sign-in/providers/client.ts',
    guarding: 'isVerified !== true || isDenied)',
    broken: 'isVerified !== true)',
  },
  {
    name: 'characters that Unicode normalizes are not accepted in an address',
    suite: 'test/attacks/addresses.test.ts',
    file: 'core/platform/lib/address.ts',
    guarding: "if (char.normalize('NFKC') !== char) return null;",
    broken: 'if (char === "") return null;',
  },
];

// The guards with the fastest suites.
testGuards(
  guards,
  guards.filter(({ suite }) => suite.endsWith('crowd.test.ts')),
);
