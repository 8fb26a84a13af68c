// Custom fields as a resource: their keys are one field's at a time, and their options stay what issues may have been given.
import { ApiError, invalidField } from '../../lib/errors.ts';
import { foldName } from '../../lib/fold.ts';
import { defineResource } from '../../resource/define.ts';
import { kindOf, type EntityOf } from '../../resource/kind.ts';
import { teamQuery, usableInTeam } from '../team-or-workspace.ts';
import { field } from './contract.ts';

/** Of a workspace, those that are deleted aside: each costs memory and a look at every new issue. */
const fieldsMax = 100;

type Field = EntityOf<typeof field>;

const fieldKind = kindOf(field);

export const fields = defineResource(field, fieldKind, {
  query: teamQuery,
  where: usableInTeam,
  check({ directory }, after, before) {
    if (!before) {
      if (directory.fields.size >= fieldsMax)
        throw new ApiError('conflict', `A workspace has at most ${fieldsMax} fields. Delete one first.`);
      for (const other of directory.fields.values())
        if (other.key === after.key && other.id !== after.id)
          throw invalidField('key', 'already_exists', {
            why: `There is a field ${after.key} already.`,
            fix: 'Give another key.',
          });
    }
    checkOptions(after, before);
  },
});

/** @throws ApiError validation_failed */
function checkOptions({ type, options }: Omit<Field, 'version'>, before: Field | null): void {
  const isSelect = type === 'select' || type === 'multi_select';
  if (isSelect !== options.length > 0)
    throw isSelect
      ? invalidField('options', 'required', 'Give what there is to choose from.')
      : invalidField('options', 'conflict', {
          why: `A ${type} field has no options.`,
          fix: 'Leave them out.',
        });
  for (const name of ['value', 'name'] as const) {
    const seen = new Set<string>();
    for (const [index, option] of options.entries()) {
      const folded = foldName(option[name]);
      if (seen.has(folded))
        throw invalidField(`options.${index}.${name}`, 'already_exists', {
          why: `Another option has the ${name} ${option[name]}.`,
          fix: 'Give another one.',
        });
      seen.add(folded);
    }
  }
  const missing = before?.options.find(({ value }) => !options.some((option) => option.value === value));
  if (missing)
    throw invalidField('options', 'conflict', {
      why: `The option ${missing.value} is left out, and issues may have it.`,
      fix: 'Give it as well, with "archived": true where no other issue is to have it.',
    });
}
