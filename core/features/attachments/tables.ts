// Tables of attachments.
import { attachment } from './contract.ts';
import { defineTable } from '../../kernel/table/define.ts';
import { digest, integer, oneOf } from '../../kernel/table/formats.ts';

export const attachmentTable = defineTable('attachments', {
  contract: attachment,
  owner: { issues: 'issue_id' },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: { formats: { sha256: digest } },
  quotes: { none: 'people write its texts' },
});

export const attachmentUsageTable = defineTable('attachment_usage', {
  owner: 'workspace',
  retention: { bound: 'one for each workspace' },
  exported: { formats: { id: oneOf('files'), bytes: integer() } },
  quotes: { none: 'numbers' },
});
