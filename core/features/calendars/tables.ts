// Table of calendars.
import { calendar } from './contract.ts';
import { defineTable } from '../../kernel/table/define.ts';

export const calendarTable = defineTable('calendars', {
  contract: calendar,
  owner: 'workspace',
  retention: { forever: 'people create them one by one, and issues, keys and history refer to them' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});
