// Tables of sessions and of the means to sign in.
import { defineTable } from '../../kernel/table/define.ts';

const exported = { not: 'accounts belong to a server; members are invited again on the new one' };
const quotes = { none: 'facts of a person' };

export const sessionTable = defineTable('sessions', {
  owner: { accounts: 'account_id' },
  retention: { expires: 'expires_at' },
  exported,
  log: { local: 'facts of a person' },
  quotes,
});

export const passwordResetTable = defineTable('password_resets', {
  owner: { accounts: 'account_id' },
  retention: { expires: 'expires_at' },
  exported,
  log: { local: 'secrets' },
  quotes,
});

export const passkeyTable = defineTable('passkeys', {
  owner: { accounts: 'account_id' },
  retention: { bound: 'up to 20 for each account' },
  exported,
  log: { local: 'facts of a person' },
  quotes,
});

export const oneTimeCodeTable = defineTable('one_time_codes', {
  owner: { accounts: 'id' },
  retention: { bound: 'one for each account' },
  exported,
  log: { local: 'secrets' },
  quotes,
});

export const recoveryCodeTable = defineTable('recovery_codes', {
  owner: { accounts: 'account_id' },
  retention: { bound: 'ten for each account; each is removed when it is used' },
  exported,
  log: { local: 'secrets' },
  quotes,
});

export const linkedAccountTable = defineTable('linked_accounts', {
  owner: { accounts: 'account_id' },
  retention: { bound: 'one for each provider and account' },
  exported,
  log: { local: 'facts of a person' },
  quotes,
});

export const challengeTable = defineTable('challenges', {
  owner: 'server',
  retention: { expires: 'expires_at' },
  exported,
  log: { local: 'secrets' },
  quotes,
});
