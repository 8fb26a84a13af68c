import { testGuards, type Guard } from '../../guards.ts';

const at = (suite: string, file: string) => ({
  suite: `test/features/sign-in/${suite}.test.ts`,
  file,
});

const guards: readonly Guard[] = [
  {
    name: 'a challenge is finished once',
    ...at('passkeys', 'core/features/sign-in/challenges.ts'),
    guarding: '`DELETE FROM challenges WHERE token_hash = :hash AND type = :type AND expires_at > :now\n',
    broken:
      '`UPDATE challenges SET type = type WHERE token_hash = :hash AND type = :type AND expires_at > :now\n',
  },
  {
    name: 'a challenge has one purpose',
    ...at('passkeys', 'core/features/sign-in/challenges.ts'),
    guarding: 'WHERE token_hash = :hash AND type = :type AND expires_at > :now\n',
    broken: 'WHERE token_hash = :hash AND :type = :type AND expires_at > :now\n',
  },
  {
    name: 'a challenge expires after ten minutes',
    ...at('passkeys', 'core/features/sign-in/challenges.ts'),
    guarding: 'AND type = :type AND expires_at > :now\n',
    broken: 'AND type = :type AND :now > 0\n',
  },
  {
    name: 'a challenge to add a passkey belongs to the account that started it',
    ...at('passkeys', 'core/features/sign-in/passkeys/passkeys.ts'),
    guarding: 'if (challenge?.accountId !== accountId) throw',
    broken: 'if (!challenge) throw',
  },
  {
    name: 'a passkey is used in the name of its own account',
    ...at('passkeys', 'core/features/sign-in/passkeys/passkeys.ts'),
    guarding: ' !== row.account_id) refuse();',
    broken: " === '') refuse();",
  },
  {
    name: 'a new passkey must answer this challenge',
    ...at('passkeys', 'core/features/sign-in/passkeys/passkeys.ts'),
    guarding: 'checkAttestation(answer, party, challengeOf(challenge).text)',
    broken:
      "checkAttestation(answer, party, JSON.parse(Buffer.from((answer as any).response.clientDataJSON, 'base64url').toString()).challenge)",
  },
  {
    name: 'a passkey must sign this challenge',
    ...at('passkeys', 'core/features/sign-in/passkeys/passkeys.ts'),
    guarding: 'challengeOf(challenge).text,',
    broken:
      "JSON.parse(Buffer.from((answer as any).response.clientDataJSON, 'base64url').toString()).challenge,",
  },
  {
    name: 'script requests are accepted only from pages of this server',
    suite: 'test/features/sign-in/passkeys.test.ts',
    file: 'core/kernel/html.ts',
    guarding: '  requireOwnPage(request, baseUrl);\n  // A form',
    broken: '  // A form',
  },
  {
    name: 'a passkey is added in a session whose page requested it',
    ...at('passkeys', 'core/features/sign-in/passkeys/pages.ts'),
    guarding: 'if (who && isFormTokenOf(who, formToken)) return who;',
    broken: 'if (who) return who;',
  },
  {
    name: 'a passkey of another person does not authenticate',
    ...at('passkeys', 'core/features/sign-in/passkeys/pages.ts'),
    guarding: '        if (who.accountId !== accountId)\n',
    broken: '        if (false)\n',
  },
  {
    name: 'adding a passkey requires recent authentication',
    ...at('passkeys', 'core/features/sign-in/passkeys/pages.ts'),
    guarding: 'if (!isFresh(who, nowMs()))',
    broken: 'if (false)',
  },
  {
    name: 'the last passkey stays if it is the only way to sign in',
    ...at('passkeys', 'core/features/sign-in/passkeys/rows.ts'),
    guarding: 'WHERE p.account_id = :account AND p.id <> :id)',
    broken: 'WHERE p.account_id = :account)',
  },
  {
    name: 'a code is accepted once',
    ...at('one-time-codes', 'core/features/sign-in/one-time-codes.ts'),
    guarding: 'AND confirmed_at IS NOT NULL AND last_step < :step',
    broken: 'AND confirmed_at IS NOT NULL AND :step > 0',
  },
  {
    name: 'a recovery code is accepted once',
    ...at('one-time-codes', 'core/features/sign-in/one-time-codes.ts'),
    guarding: "'DELETE FROM recovery_codes WHERE account_id = :account AND code_hash = :hash'",
    broken:
      "'UPDATE recovery_codes SET code_hash = code_hash WHERE account_id = :account AND code_hash = :hash'",
  },
  {
    name: 'a code belongs to its account',
    ...at('one-time-codes', 'core/features/sign-in/one-time-codes.ts'),
    guarding: "'DELETE FROM recovery_codes WHERE account_id = :account AND code_hash = :hash'",
    broken: "'DELETE FROM recovery_codes WHERE :account = :account AND code_hash = :hash'",
  },
  {
    name: 'codes are accepted half a minute early or late at most',
    ...at('one-time-codes', 'core/features/sign-in/one-time-codes.ts'),
    guarding: 'window: 1 }',
    broken: 'window: 2 }',
  },
  {
    name: 'failed codes are counted',
    ...at('one-time-codes', 'core/features/sign-in/one-time-codes.ts'),
    guarding: 'const isCounted = limits.take(counted);',
    broken: 'const isCounted = true;',
  },
  {
    name: 'a secret is active only after a first valid code',
    ...at('one-time-codes', 'core/features/sign-in/one-time-codes.ts'),
    guarding: 'return { isOn: secret?.isOn ?? false,',
    broken: 'return { isOn: secret !== null,',
  },
  {
    name: 'a recovery code is stored as a hash',
    ...at('one-time-codes', 'core/features/sign-in/one-time-codes.ts'),
    guarding: "createHash('sha256').update(plain).digest('hex')",
    broken: 'plain',
  },
  {
    name: 'a password leads to the second step',
    suite: 'test/features/sign-in/one-time-codes.test.ts',
    file: 'core/features/sign-in/runtime.ts',
    guarding: 'furtherSteps: [oneTimeCodeStep(codes)]',
    broken: 'furtherSteps: []',
  },
  {
    name: 'a callback belongs to the provider of the request',
    ...at('outside', 'core/features/sign-in/providers/outside.ts'),
    guarding: 'challenge.details.key !== key ||',
    broken: '',
  },
  {
    name: 'a link is added to the signed-in account',
    ...at('outside', 'core/features/sign-in/providers/outside.ts'),
    guarding: '(challenge.accountId !== null && challenge.accountId !== now.who?.accountId)',
    broken: 'false',
  },
  {
    name: 'only a linked account authenticates again',
    ...at('outside', 'core/features/sign-in/providers/outside.ts'),
    guarding: 'else if ((await options.links.use(person)) !== accountId)',
    broken: 'else if (false)',
  },
  {
    name: 'the domains of a provider are enforced',
    ...at('outside', 'core/features/sign-in/providers/outside.ts'),
    guarding: '      requireDomain(settings, person);\n',
    broken: '',
  },
  {
    name: 'the signature of an ID token is checked',
    ...at('outside-tokens', 'core/features/sign-in/providers/client.ts'),
    guarding: 'execute: [enableNonRepudiationChecks, ',
    broken: 'execute: [',
  },
  {
    name: 'only a verified address counts',
    suite: 'test/attacks/provider-claims.test.ts',
    file: 'core/features/sign-in/providers/client.ts',
    guarding: 'isVerified !== true || isDenied',
    broken: 'isDenied',
  },
  {
    name: 'an invitation is accepted by address only if the operator allows it',
    ...at('outside', 'core/features/sign-in/providers/outside.ts'),
    guarding: 'isTrusted ? await invitations.findByAddress(email) : []',
    broken: 'await invitations.findByAddress(email)',
  },
  {
    name: 'a new person does not get an address that an account of the workspace uses',
    ...at('outside', 'core/features/sign-in/providers/outside.ts'),
    guarding: "if (await isAddressTaken(services.store, key, '', rivals)) return 'known_address';",
    broken: '',
  },
  {
    name: 'the nonce of the ID token is checked',
    ...at('outside', 'core/features/sign-in/providers/client.ts'),
    guarding: "expectedNonce: challenge.secret('nonce')",
    broken: 'expectedNonce: undefined as any',
  },
  {
    name: 'the state is checked',
    ...at('outside', 'core/features/sign-in/providers/client.ts'),
    guarding: "expectedState: challenge.secret('state')",
    broken: "expectedState: query.get('state')!",
  },
  {
    name: 'the last linked account stays if it is the only way to sign in',
    ...at('outside', 'core/features/sign-in/providers/links.ts'),
    guarding: 'WHERE o.account_id = :account AND o.id <> :id)',
    broken: 'WHERE o.account_id = :account)',
  },
  {
    name: 'only its owner unlinks a linked account',
    ...at('outside', 'core/features/sign-in/providers/links.ts'),
    guarding: 'DELETE FROM linked_accounts WHERE id = :id AND account_id = :account AND (',
    broken: 'DELETE FROM linked_accounts WHERE id = :id AND (',
  },
  {
    name: 'linking requires recent authentication',
    ...at('outside', 'core/features/sign-in/providers/pages.ts'),
    guarding: 'path: `linked/${key}`,\n          isSensitive: true',
    broken: 'path: `linked/${key}`,\n          isSensitive: false',
  },
];

const guardNamed = (name: string): Guard | undefined => guards.find((guard) => guard.name === name);

testGuards(guards, [guardNamed('a challenge is finished once')]);
