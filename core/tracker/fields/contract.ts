// Custom fields: what a workspace, or one team of it, wants to say of issues beyond what every issue has.
import { Type, type TUnsafe } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, flag, json, referenceBy, string, text } from '../../contract/field.ts';
import { Closed, line, writes, type Writes } from '../../lib/schema.ts';
import { team } from '../teams/contract.ts';

export const fieldTypes = [
  'text',
  'number',
  'date',
  'select',
  'multi_select',
  'member',
  'url',
  'checkbox',
] as const;

const key = Type.String({
  pattern: '^[a-z][a-z0-9_]{0,39}$',
  description: 'A letter, then up to 39 letters, digits and underscores, all in lower case.',
});
const optionsMax = 100;
const options = Type.Array(
  Closed({
    value: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$',
      description: 'What issues, filters and events call it, for ever.',
    }),
    name: line(80, 'What people read; it may change.'),
    archived: Type.Optional(
      Type.Boolean({ description: 'Issues that have it keep it, and no other is given it.' }),
    ),
  }),
  // All of them are one field, whatever rights are narrowed to.
  { maxItems: optionsMax, [writes]: ['options'] satisfies Writes },
);

export const field = defineContract({
  name: 'field',
  path: 'fields',
  scope: 'workflows',
  title: 'Field',
  id: 'fld',
  doc: 'A custom field of issues, of the whole workspace or of one team.',
  fields: {
    key: string(key, {
      required: true,
      write: 'create',
      doc: 'What issues, filters and sorts call it: `fields.<key>`. No other field of the workspace has it.',
    }),
    name: text({ max: 80, required: true, doc: 'What people read.' }),
    description: text({ max: 500, asGiven: true, default: '', doc: 'What it is for.' }),
    type: choice(fieldTypes, { required: true, write: 'create', doc: 'What its values are.' }),
    options: json(options, {
      default: [],
      doc: 'Of a select: what there is to choose from, in the order that lists sort by. Options are renamed and archived, and never left out.',
    }),
    required: flag({ default: false, doc: 'New issues must give it, and none may take it away.' }),
    archived: flag({
      default: false,
      doc: 'Issues keep and show their values, lists filter by them, and no issue is given another.',
    }),
    team: referenceBy(team, 'key', {
      nullable: true,
      write: 'create',
      doc: 'The team whose issues have it, by its key; null for those of all.',
    }),
  },
  undo: 'values',
  operations: {
    list: {
      summary: 'List custom fields',
      description:
        'With `team`, the fields that issues of that team can have: its own and those of the workspace.',
    },
    create: 'Create a custom field',
    get: 'Get a custom field',
    update: 'Change a custom field',
    delete: 'Delete a custom field; it can be restored, with its values',
    restore: 'Restore a deleted custom field',
  },
  events: {
    created: 'field.created',
    updated: 'field.updated',
    deleted: 'field.deleted',
    restored: 'field.restored',
  },
  keepsDeleted: true,
  ofTeam: true,
  directory: { as: 'fields', keeps: ['key', 'type', 'options', 'required', 'archived', 'teamId'] },
  calls: ['list'],
  examples: {
    create: {
      key: 'severity',
      name: 'Severity',
      type: 'select',
      options: [
        { value: 'low', name: 'Low' },
        { value: 'high', name: 'High' },
      ],
    },
    update: {
      name: 'Impact',
      options: [
        { value: 'low', name: 'Low' },
        { value: 'high', name: 'High' },
        { value: 'critical', name: 'Critical', archived: true },
      ],
    },
  },
});

export type FieldValue = string | number | boolean | string[];

/** @param types of the values, as JSON has them */
function recordOf<V>(types: readonly string[], description: string): TUnsafe<Record<string, V>> {
  const value = Type.Unsafe<V>({ type: types, items: { type: 'string' } });
  return Type.Unsafe<Record<string, V>>(Type.Record(Type.String(), value, { description }));
}

const types = ['string', 'number', 'boolean', 'array'];

/** What a request says of custom fields of an issue. */
export const fieldsGiven = recordOf<FieldValue | null>(
  [...types, 'null'],
  'By key. What is not named stays; null takes a value away.',
);

/** What an issue shows of them. */
export const fieldsShown = recordOf<FieldValue>(types, 'By key; fields without a value are left out.');
