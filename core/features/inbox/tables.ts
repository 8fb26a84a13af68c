// Tables of the inbox.
import { Type } from 'typebox';
import { defineTable } from '../../kernel/table/define.ts';
import { inboxItem, switchableReasons } from './contract.ts';
import { json } from '../../kernel/table/formats.ts';

export const inboxItemTable = defineTable('inbox_items', {
  contract: inboxItem,
  owner: { issues: 'issue_id', members: 'member_id' },
  retention: { days: 'deleted', since: 'archived_at' },
  exported: {},
  log: 'own',
  quotes: { elsewhere: 'the purge of a proposal removes its text from the items that quote it' },
});

export const inboxPreferenceTable = defineTable('inbox_preferences', {
  owner: { members: 'id' },
  retention: { bound: 'one for each member' },
  exported: { formats: { off_json: json(Type.Array(Type.Enum([...switchableReasons]))) } },
  log: { local: 'settings of a member' },
  quotes: { none: 'settings' },
});

export const inboxChangeTable = defineTable('inbox_changes', {
  owner: { members: 'id' },
  retention: { bound: 'one for each member' },
  exported: { not: 'its sequences belong to the log of the exporting server' },
  log: { local: 'index of the log' },
  quotes: { none: 'ids and numbers' },
});
