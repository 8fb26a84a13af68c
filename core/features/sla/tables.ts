// Table of SLA clocks.
import { defineTable } from '../../kernel/table/define.ts';
import { integer, moment } from '../../kernel/table/formats.ts';
import { slaClock } from './contract.ts';

const hidden = 'internal state, which no request shows';

export const slaClockTable = defineTable('sla_clocks', {
  contract: slaClock,
  owner: { issues: 'issue_id' },
  retention: { withOwner: true },
  exported: { formats: { counted_from: moment, sequence: integer() } },
  log: 'own',
  quotes: { none: 'ids and times' },
  unlogged: { counted_from: hidden, sequence: hidden },
});
