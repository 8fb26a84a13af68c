// Custom fields as a resource. Keys are unique; options cannot be removed, since issues may have them.
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { foldName } from '../../platform/lib/text/words.ts';
import type { NewEntity } from '../../kernel/changes/change.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { teamQuery, usableInTeam } from '../teams/index.ts';
import { field } from './contract.ts';
import { defineFeature } from '../../kernel/feature.ts';

/**
 * Maximum number of fields in a workspace, deleted ones excluded. Each field costs memory and a check per new
 * issue.
 */
const fieldsMax = 100;

type Field = EntityOf<typeof field>;

const fieldModel = modelOf(field);

const resource = defineResource(field, fieldModel, {
  query: teamQuery,
  where: usableInTeam,
  check({ directory }, after, before) {
    if (!before) {
      if (directory.fields.size >= fieldsMax)
        throw new ApiError('conflict', `A workspace has at most ${fieldsMax} fields. Delete one first.`);
      for (const other of directory.fields.values())
        if (other.key === after.key && other.id !== after.id)
          throw invalidField('key', 'already_exists', {
            why: `A field with the key ${after.key} already exists.`,
            fix: 'Use another key.',
          });
    }
    checkOptions(after, before);
  },
});

/** @throws ApiError validation_failed */
function checkOptions({ type, options }: NewEntity<Field>, before: Field | null): void {
  const isSelect = type === 'select' || type === 'multi_select';
  if (isSelect !== options.length > 0)
    throw isSelect
      ? invalidField('options', 'required', 'Give at least one option.')
      : invalidField('options', 'conflict', {
          why: `A ${type} field has no options.`,
          fix: 'Leave the options out.',
        });
  for (const name of ['value', 'name'] as const) {
    const seen = new Set<string>();
    for (const [index, option] of options.entries()) {
      const folded = foldName(option[name]);
      if (seen.has(folded))
        throw invalidField(`options.${index}.${name}`, 'already_exists', {
          why: `Another option has the ${name} ${option[name]}.`,
          fix: `Use another ${name}.`,
        });
      seen.add(folded);
    }
  }
  const missing = before?.options.find(({ value }) => !options.some((option) => option.value === value));
  if (missing)
    throw invalidField('options', 'conflict', {
      why: `The option ${missing.value} is missing, but issues may have it.`,
      fix: 'Add the option to the list, with "archived": true if it should no longer be chosen.',
    });
}

export const fields = defineFeature({ name: 'fields', resources: [resource] });

export { withFieldsAt } from './as-of.ts';
export { customValue, customColumns, customFilterFields, customKeys, customSortings } from './filter.ts';
export {
  requiredOf,
  toFieldsResponse,
  toStoredFields,
  fieldsAfter,
  stillTaken,
  type FieldValues,
} from './values.ts';
