// Custom fields of issues, defined by a workspace or by one of its teams.
import { Type, type TUnsafe } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, flag, json, referenceBy, string, text } from '../../kernel/contract/field.ts';
import { Closed, line, writes, type WrittenFields } from '../../platform/lib/schema.ts';
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
      description: 'A value of up to 40 letters, digits, hyphens and underscores; it cannot change.',
    }),
    name: line(80, 'Name of the option; may change.'),
    archived: Type.Optional(
      Type.Boolean({
        description: 'True if the option can no longer be chosen; issues that have the option are unchanged.',
      }),
    ),
  }),
  // For narrowed rights, all options count as one field.
  { maxItems: optionsMax, [writes]: ['options'] satisfies WrittenFields },
);

export const field = defineContract({
  name: 'field',
  path: 'fields',
  scope: 'workflows',
  title: 'Field',
  id: 'fld',
  doc: 'Custom field of issues, for the whole workspace or for one team.',
  fields: {
    key: string(key, {
      required: true,
      write: 'create',
      doc: 'Key of the field, unique in the workspace. Issues, filters and sorts use it as `fields.<key>`.',
    }),
    name: text({ max: 80, required: true, doc: 'Name of the field.' }),
    description: text({ max: 500, isVerbatim: true, default: '', doc: 'Description of the field.' }),
    type: choice(fieldTypes, { required: true, write: 'create', doc: 'Type of the values.' }),
    options: json(options, {
      default: [],
      doc: 'Options of a select field, in sort order. Options can be renamed and archived, but not removed.',
    }),
    required: flag({
      default: false,
      doc: 'True if new issues must have a value and existing values cannot be removed; default false.',
    }),
    archived: flag({
      default: false,
      doc: 'True if no new values can be set; existing values stay visible and filterable. Default false.',
    }),
    team: referenceBy(team, 'key', {
      nullable: true,
      write: 'create',
      doc: 'Team whose issues have the field; null for all teams.',
    }),
  },
  undo: 'values',
  operations: {
    list: {
      summary: 'List custom fields',
      description:
        'With `team`, lists the fields available to issues of that team: its own and those of the workspace.',
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
  retainsDeleted: true,
  ofTeam: true,
  directory: { as: 'fields', entryFields: ['key', 'type', 'options', 'required', 'archived', 'teamId'] },
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

/** @param types JSON types of the values */
function recordOf<V>(types: readonly string[], description: string): TUnsafe<Record<string, V>> {
  const value = Type.Unsafe<V>({ type: types, items: { type: 'string' } });
  return Type.Unsafe<Record<string, V>>(Type.Record(Type.String(), value, { description }));
}

const types = ['string', 'number', 'boolean', 'array'];

export const fieldsInput = recordOf<FieldValue | null>(
  [...types, 'null'],
  'Map of field key → value. Omitted fields keep their value; null removes it.',
);

export const fieldsResponse = recordOf<FieldValue>(
  types,
  'Map of field key → value; fields without a value are omitted.',
);
