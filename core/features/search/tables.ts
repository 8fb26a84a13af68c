// Tables of the full-text index.
import { defineTable } from '../../kernel/table/define.ts';

const exported = { not: 'the new server indexes the texts again' };

export const searchIndexTable = defineTable('search_index', {
  owner: 'server',
  retention: { bound: 'each is removed with its row of search_documents' },
  exported,
  quotes: { elsewhere: 'an issue is removed from the index when it is deleted' },
});

export const searchDocumentTable = defineTable('search_documents', {
  owner: 'workspace',
  retention: { bound: 'each is removed when its issue or comment is deleted' },
  exported,
  quotes: { none: 'ids and numbers' },
});

export const searchPendingTable = defineTable('search_pending', {
  owner: 'workspace',
  retention: { bound: 'each is removed once its text is indexed' },
  exported,
  quotes: { none: 'ids and numbers' },
});
