// Table of issue templates.
import { Type } from 'typebox';
import { defineTable } from '../../kernel/table/define.ts';
import { fieldsResponse } from '../fields/contract.ts';
import { idOf } from '../../platform/lib/schema.ts';
import { json } from '../../kernel/table/formats.ts';
import { label } from '../labels/contract.ts';
import { template } from './contract.ts';

export const templateTable = defineTable('templates', {
  contract: template,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {
    formats: { labels_json: json(Type.Array(idOf(label.id))), fields_json: json(fieldsResponse) },
  },
  log: 'own',
  quotes: { none: 'people write its texts' },
});
