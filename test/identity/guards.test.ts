// The guards of people, their passwords and sessions, each taken out of a copy of the sources.
import { testGuards, type Guard } from '../guards.ts';

const at = (suite: string, file: string) => ({
  suite: `test/identity/${suite}.test.ts`,
  file: `core/${file}`,
});

const guards: readonly Guard[] = [
  {
    name: 'a form comes from a page of this server',
    ...at('account', 'html/form.ts'),
    guarding: '  if (!isOwn) throw',
    broken: '  if (false) throw',
  },
  {
    name: 'a form comes from the name of the base URL',
    ...at('sign-in', 'html/form.ts'),
    guarding: ' && isAtOwnHost({ headers }, baseUrl)',
    broken: '',
  },
  {
    name: 'a form without an origin is taken from this origin alone',
    ...at('account', 'html/form.ts'),
    guarding: "    site === 'same-origin'\n",
    broken: "    origin === 'null' || site === 'same-origin'\n",
  },
  {
    name: 'a form comes from a page of this session',
    ...at('account', 'identity/pages.ts'),
    guarding: "if (!isFormTokenOf({ formToken }, form.get('form_token')))",
    broken: 'if (false)',
  },
  {
    name: 'an invitation expires',
    ...at('invitations', 'identity/invitations/invitations.ts'),
    guarding: ' OR i.mailed_hash = :hash) AND i.expires_at > :now`',
    broken: ' OR i.mailed_hash = :hash) AND :now > 0`',
  },
  {
    name: 'an invitation is used once, whoever else uses it at the same time',
    ...at('invitations', 'identity/invitations/invitations.ts'),
    guarding: '{ member: member.id, hash, now }, { expectRows: 1 });',
    broken: '{ member: member.id, hash, now });',
  },
  {
    name: 'who may not add a member invites none',
    ...at('invitations', 'identity/invitations/inviting.ts'),
    guarding: '  await requireMayChange(ctx, null, invited);\n',
    broken: '',
  },
  {
    name: 'a removed member has no seat',
    ...at('sign-in', 'identity/members/members.ts'),
    guarding: 'leaveSeatOp(ctx.scope, id), withdrawOp(ctx.scope, id)',
    broken: '',
  },
  {
    name: 'the token of an invitation is kept as a hash',
    ...at('invitations', 'lib/link-token.ts'),
    guarding: "return createHash('sha256').update(token).digest('hex');",
    broken: 'return token;',
  },
  {
    name: 'the log has no path of a page',
    ...at('invitations', 'http/kernel.ts'),
    guarding: "route.kind === 'inbound' ? route.path : ",
    broken: '',
  },
  {
    name: 'a short password is refused',
    ...at('invitations', 'identity/accounts/password-rules.ts'),
    guarding: 'if (length < passwordMin)',
    broken: 'if (length < 1)',
  },
  {
    name: 'a common password is refused',
    ...at('invitations', 'identity/accounts/password-rules.ts'),
    guarding: 'if (isCommon(lowerCased))',
    broken: 'if (isCommon(lowerCased) && false)',
  },
  {
    name: 'signing in leads to this server alone',
    ...at('sign-in', 'identity/sign-in/destination.ts'),
    guarding: '!/^\\/(?![/\\\\])[^\\\\\\p{Cc}]*$/u.test(requested)',
    broken: 'requested === ""',
  },
  {
    name: 'a session that was there ends where somebody signs in',
    ...at('sign-in', 'identity/sign-in/sign-in.ts'),
    guarding: 'if (earlier) await sessions.end(earlier.accountId, earlier.sessionId);',
    broken: '',
  },
  {
    name: 'a page is framed by nobody',
    ...at('every-page', 'html/page.ts'),
    guarding: `    "frame-ancestors 'none'",\n`,
    broken: '',
  },
  {
    name: 'a session that was planted ends where somebody signs in',
    ...at('every-page', 'identity/sign-in/sign-in.ts'),
    guarding: 'if (earlier) await sessions.end(earlier.accountId, earlier.sessionId);',
    broken: '',
  },
  {
    name: 'signing out ends the session, not the cookie alone',
    ...at('sign-in', 'identity/sign-in/page.ts'),
    guarding: 'await sessions.end(who.accountId, who.sessionId);',
    broken: '',
  },
  {
    name: 'guesses at an account are counted',
    ...at('sign-in', 'identity/sign-in/limits.ts'),
    guarding: 'if (counted.some((one) => leftOf(one) < 1)) return false;',
    broken: '',
  },
  {
    name: 'guesses of a peer are counted',
    ...at('sign-in', 'identity/sign-in/limits.ts'),
    guarding: 'limit: failuresAnHour.peer },',
    broken: 'limit: 1e9 },',
  },
  {
    name: 'a known device is counted apart',
    ...at('sign-in', 'identity/sign-in/sign-in.ts'),
    guarding: 'else known.push({ accounts: [account], attempt: { subject: hashed, peer, device } });',
    broken: 'else strangers.push(account);',
  },
  {
    name: 'a device is known to the account that signed in on it, and no other',
    ...at('sign-in', 'identity/sign-in/devices.ts'),
    guarding: 'tags.some((tag) => sealing.verify(text, purpose, tag))',
    broken: 'tags.length > 0',
  },
  {
    name: 'another address takes a proof that is not old',
    ...at('account', 'identity/account/profile.ts'),
    guarding: 'about.email !== who.email && !isFresh(who, nowMs())',
    broken: 'false',
  },
  {
    name: 'another password takes the one there is',
    ...at('account', 'identity/account/password.ts'),
    guarding: 'if (!isRight) return { wrong',
    broken: 'if (false) return { wrong',
  },
  {
    name: 'another password ends the other sessions',
    ...at('account', 'identity/account/password.ts'),
    guarding: '          endSessionsOp(who.accountId, who.sessionId),\n',
    broken: '',
  },
  {
    name: 'nobody ends the session of another account',
    ...at('account', 'identity/sessions/sessions.ts'),
    guarding: "'DELETE FROM sessions WHERE account_id = :account AND id = :id'",
    broken: "'DELETE FROM sessions WHERE (:account = :account) AND id = :id'",
  },
  {
    name: 'a link to reset works once',
    ...at('mail', 'identity/resets/resets.ts'),
    guarding: 'hash: linkTokenHash(token), now }, { expectRows: 1 }),\n    ...setPasswordOps',
    broken: 'hash: "", now }),\n    ...setPasswordOps',
  },
  {
    name: 'a link to reset expires',
    ...at('mail', 'identity/resets/resets.ts'),
    guarding:
      "'SELECT account_id, by_mail FROM password_resets WHERE token_hash = :hash AND expires_at > :now'",
    broken: "'SELECT account_id, by_mail FROM password_resets WHERE token_hash = :hash AND :now > 0'",
  },
  {
    name: 'another password by a link ends all sessions',
    ...at('mail', 'identity/resets/resets.ts'),
    guarding: '    endSessionsOp(account.id),\n',
    broken: '',
  },
  {
    name: 'links to reset are counted',
    ...at('mail', 'identity/resets/limits.ts'),
    guarding: 'if (counted.some(({ isFull }) => isFull)) return false;',
    broken: '',
  },
  {
    name: 'a mail server elsewhere is told nothing in the clear',
    ...at('mail', 'lib/mail.ts'),
    guarding: 'requireTLS: !secure && !isHere,',
    broken: 'requireTLS: false,',
  },
  {
    name: 'passwords are compared few at a time',
    ...at('crowd', 'identity/accounts/passwords.ts'),
    guarding: 'if (!slots.hasCapacityFor(sender, 1))',
    broken: 'if (placesMax < 0)',
  },
  {
    name: 'an invitation ends with the role and the address that it was made for',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/identity/invitations/invitations.ts',
    guarding: `\n   AND m.role = i.role AND m.email_key IS i.email_key\`;`,
    broken: '`;',
  },
  {
    name: 'the first proof of a mailbox ends passkeys',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/identity/accounts/proof.ts',
    guarding: 'systemOp(deletePasskeysOf, { account: accountId }),',
    broken: '',
  },
  {
    name: 'a link that is handed over proves no address',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/identity/invitations/page.ts',
    guarding: 'const isProven = invitation.isMailed && ',
    broken: 'const isProven = ',
  },
  {
    name: 'another address is unproven',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/identity/accounts/accounts.ts',
    guarding: 'CASE WHEN email_key = :key THEN email_verified_at END',
    broken: 'email_verified_at',
  },
  {
    name: 'another password ends the links to reset',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/identity/accounts/accounts.ts',
    guarding: '    systemOp(deleteReset, { id: accountId }),\n',
    broken: '',
  },
  {
    name: 'signing out everywhere ends grants',
    suite: 'test/attacks/proven-addresses.test.ts',
    file: 'core/identity/grants/ending.ts',
    guarding: 'await revokeRows(options, rows);\n    }',
    broken: 'return;\n    }',
  },
  {
    name: 'an address that is denied by either source is unverified',
    suite: 'test/attacks/provider-claims.test.ts',
    file: 'core/identity/providers/client.ts',
    guarding: 'isVerified !== true || isDenied)',
    broken: 'isVerified !== true)',
  },
  {
    name: 'what Unicode writes in another way is no letter of an address',
    suite: 'test/attacks/addresses.test.ts',
    file: 'core/lib/address.ts',
    guarding: "if (char.normalize('NFKC') !== char) return null;",
    broken: 'if (char === "") return null;',
  },
];

// Those whose suites are quickest.
testGuards(
  guards,
  guards.filter(({ suite }) => suite.endsWith('crowd.test.ts')),
);
