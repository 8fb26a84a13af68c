// Tables of attachments.
import { attachment } from './contract.ts';
import { defineTable } from '../../kernel/table/define.ts';
import { digest, integer, oneOf } from '../../kernel/table/formats.ts';

export const attachmentTable = defineTable('attachments', {
  contract: attachment,
  owner: { issues: 'issue_id' },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: { formats: { sha256: digest } },
  log: 'issue',
  quotes: { none: 'people write its texts' },
});

export const attachmentUsageTable = defineTable('attachment_usage', {
  owner: 'workspace',
  retention: { bound: 'one for each workspace' },
  exported: { formats: { id: oneOf('files'), bytes: integer() } },
  log: 'derived',
  derived: [
    {
      columns: ['bytes'],
      what: 'workspaces have another total size of files than the attachments',
      sql: `FROM attachment_usage AS t WHERE t.bytes <> (SELECT coalesce(sum(a.bytes), 0) FROM attachments AS a
        WHERE a.workspace_id = t.workspace_id AND a.deleted_at IS NULL)`,
    },
  ],
  quotes: { none: 'numbers' },
});
