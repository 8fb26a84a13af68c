// Table of subscribers.
import { defineTable } from '../../kernel/table/define.ts';
import { flag } from '../../kernel/table/formats.ts';
import { subscriber } from './contract.ts';

export const subscriberTable = defineTable('subscribers', {
  contract: subscriber,
  owner: { issues: 'issue_id', members: 'member_id' },
  retention: { withOwner: true },
  exported: { formats: { muted: flag } },
  log: 'own',
  quotes: { none: 'ids and times' },
});
