// The guards of passkeys, one-time codes and outside providers, each taken out of a copy of the sources.
import { testGuards, type Guard } from '../guards.ts';

const at = (suite: string, file: string) => ({
  suite: `test/identity/${suite}.test.ts`,
  file: `core/identity/${file}`,
});

const guards: readonly Guard[] = [
  {
    name: 'a ceremony is finished once',
    ...at('passkeys', 'ceremonies/ceremonies.ts'),
    guarding: '`DELETE FROM ceremonies WHERE token_hash = :hash AND kind = :kind AND expires_at > :now\n',
    broken:
      '`UPDATE ceremonies SET kind = kind WHERE token_hash = :hash AND kind = :kind AND expires_at > :now\n',
  },
  {
    name: 'a ceremony is of one kind',
    ...at('passkeys', 'ceremonies/ceremonies.ts'),
    guarding: 'WHERE token_hash = :hash AND kind = :kind AND expires_at > :now\n',
    broken: 'WHERE token_hash = :hash AND :kind = :kind AND expires_at > :now\n',
  },
  {
    name: 'a ceremony ends after ten minutes',
    ...at('passkeys', 'ceremonies/ceremonies.ts'),
    guarding: 'AND kind = :kind AND expires_at > :now\n',
    broken: 'AND kind = :kind AND :now > 0\n',
  },
  {
    name: 'a ceremony to add a passkey is of the account that began it',
    ...at('passkeys', 'passkeys/adding.ts'),
    guarding: 'if (ceremony?.accountId !== accountId) throw',
    broken: 'if (!ceremony) throw',
  },
  {
    name: 'a passkey is used in the name of its own account',
    ...at('passkeys', 'passkeys/answers.ts'),
    guarding: ' !== row.account_id) refuse();',
    broken: " === '') refuse();",
  },
  {
    name: 'a new passkey is made for this challenge',
    ...at('passkeys', 'passkeys/adding.ts'),
    guarding: 'checkAttestation(answer, party, challengeOf(ceremony).text)',
    broken:
      "checkAttestation(answer, party, JSON.parse(Buffer.from((answer as any).response.clientDataJSON, 'base64url').toString()).challenge)",
  },
  {
    name: 'a passkey signs this challenge',
    ...at('passkeys', 'passkeys/signing-in.ts'),
    guarding: 'challengeOf(ceremony).text,',
    broken:
      "JSON.parse(Buffer.from((answer as any).response.clientDataJSON, 'base64url').toString()).challenge,",
  },
  {
    name: 'scripts are heard from pages of this server alone',
    suite: 'test/identity/passkeys.test.ts',
    file: 'core/html/script-call.ts',
    guarding: '  requireOwnPage(request, baseUrl);\n',
    broken: '',
  },
  {
    name: 'a passkey is added in a session whose page asks for it',
    ...at('passkeys', 'passkeys/forms.ts'),
    guarding: 'if (who && isFormTokenOf(who, formToken)) return who;',
    broken: 'if (who) return who;',
  },
  {
    name: 'a passkey of somebody else proves nothing',
    ...at('passkeys', 'passkeys/forms.ts'),
    guarding: '        if (who.accountId !== accountId)\n',
    broken: '        if (false)\n',
  },
  {
    name: 'adding a passkey asks for a proof that is not old',
    ...at('passkeys', 'passkeys/forms.ts'),
    guarding: 'if (!isFresh(who, nowMs()))',
    broken: 'if (false)',
  },
  {
    name: 'the last passkey stays where there is no other way in',
    ...at('passkeys', 'passkeys/rows.ts'),
    guarding: 'WHERE p.account_id = :account AND p.id <> :id)',
    broken: 'WHERE p.account_id = :account)',
  },
  {
    name: 'a code is taken once',
    ...at('one-time-codes', 'one-time-codes/rows.ts'),
    guarding: 'AND confirmed_at IS NOT NULL AND last_step < :step',
    broken: 'AND confirmed_at IS NOT NULL AND :step > 0',
  },
  {
    name: 'a recovery code is taken once',
    ...at('one-time-codes', 'one-time-codes/rows.ts'),
    guarding: "'DELETE FROM recovery_codes WHERE account_id = :account AND code_hash = :hash'",
    broken:
      "'UPDATE recovery_codes SET code_hash = code_hash WHERE account_id = :account AND code_hash = :hash'",
  },
  {
    name: 'a code is of its account',
    ...at('one-time-codes', 'one-time-codes/rows.ts'),
    guarding: "'DELETE FROM recovery_codes WHERE account_id = :account AND code_hash = :hash'",
    broken: "'DELETE FROM recovery_codes WHERE :account = :account AND code_hash = :hash'",
  },
  {
    name: 'codes are of half a minute before and after, and no more',
    ...at('one-time-codes', 'one-time-codes/codes.ts'),
    guarding: 'window: 1 }',
    broken: 'window: 2 }',
  },
  {
    name: 'guesses at codes are counted',
    ...at('one-time-codes', 'one-time-codes/step.ts'),
    guarding: 'const isCounted = limits.take(counted);',
    broken: 'const isCounted = true;',
  },
  {
    name: 'a secret counts once a code has shown that it arrived',
    ...at('one-time-codes', 'one-time-codes/one-time-codes.ts'),
    guarding: 'return { isOn: secret?.isOn ?? false,',
    broken: 'return { isOn: secret !== null,',
  },
  {
    name: 'a recovery code is kept as a hash',
    ...at('one-time-codes', 'one-time-codes/recovery-codes.ts'),
    guarding: "createHash('sha256').update(plain).digest('hex')",
    broken: 'plain',
  },
  {
    name: 'a password leads to the further step',
    suite: 'test/identity/one-time-codes.test.ts',
    file: 'core/serve/factors.ts',
    guarding: 'furtherSteps: [oneTimeCodeStep(codes)]',
    broken: 'furtherSteps: []',
  },
  {
    name: 'a return is of the provider that the browser left for',
    ...at('outside', 'providers/outside.ts'),
    guarding: 'challenge.details.key !== key ||',
    broken: '',
  },
  {
    name: 'a link is made for who is signed in',
    ...at('outside', 'providers/outside.ts'),
    guarding: '(challenge.accountId !== null && challenge.accountId !== now.who?.accountId)',
    broken: 'false',
  },
  {
    name: 'a proof is given by an account that is linked',
    ...at('outside', 'providers/outside.ts'),
    guarding: 'else if ((await options.links.use(person)) !== accountId)',
    broken: 'else if (false)',
  },
  {
    name: 'the domains of a provider are held',
    ...at('outside', 'providers/outside.ts'),
    guarding: '      requireDomain(settings, person);\n',
    broken: '',
  },
  {
    name: 'the signature of an ID token is checked',
    ...at('outside-tokens', 'providers/client.ts'),
    guarding: 'execute: [enableNonRepudiationChecks, ',
    broken: 'execute: [',
  },
  {
    name: 'an address counts where it was verified',
    suite: 'test/attacks/provider-claims.test.ts',
    file: 'core/identity/providers/client.ts',
    guarding: 'isVerified !== true || isDenied',
    broken: 'isDenied',
  },
  {
    name: 'an invitation is taken by its address where the operator allows that',
    ...at('outside', 'providers/admit.ts'),
    guarding: 'isTrusted ? await invitations.findByAddress(email) : []',
    broken: 'await invitations.findByAddress(email)',
  },
  {
    name: 'an address that an account of the workspace gives is not given to a newcomer',
    ...at('outside', 'providers/admit.ts'),
    guarding: "if (await isAddressTaken(services.store, key, '', rivals)) return 'known_address';",
    broken: '',
  },
  {
    name: 'the nonce of the ID token is checked',
    ...at('outside', 'providers/client.ts'),
    guarding: "expectedNonce: challenge.secret('nonce')",
    broken: 'expectedNonce: undefined as any',
  },
  {
    name: 'the state is checked',
    ...at('outside', 'providers/client.ts'),
    guarding: "expectedState: challenge.secret('state')",
    broken: "expectedState: query.get('state')!",
  },
  {
    name: 'the last account elsewhere stays where there is no other way in',
    ...at('outside', 'providers/rows.ts'),
    guarding: 'WHERE o.account_id = :account AND o.id <> :id)',
    broken: 'WHERE o.account_id = :account)',
  },
  {
    name: 'an account elsewhere is unlinked by its owner',
    ...at('outside', 'providers/rows.ts'),
    guarding: 'DELETE FROM outside_accounts WHERE id = :id AND account_id = :account AND (',
    broken: 'DELETE FROM outside_accounts WHERE id = :id AND (',
  },
  {
    name: 'linking asks for a proof that is not old',
    ...at('outside', 'providers/forms.ts'),
    guarding: 'path: `linked/${key}`, isSensitive: true',
    broken: 'path: `linked/${key}`, isSensitive: false',
  },
];

const guardNamed = (name: string): Guard | undefined => guards.find((guard) => guard.name === name);

testGuards(guards, [guardNamed('a ceremony is finished once')]);
