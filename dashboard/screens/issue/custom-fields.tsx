import { useQuery } from '@tanstack/react-query';
import type { Issue } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { fieldsQuery } from '../../data/directory.ts';
import { FieldInput, type FieldValue } from '../../parts/issue/field-input.tsx';
import { Field, type Change } from './fields.tsx';

interface CustomFieldsProps {
  readonly issue: Issue;
  readonly onChange: Change;
}

/** Custom fields of the workspace and of the team of the issue. */
export function CustomFields({ issue, onChange }: CustomFieldsProps): ReactNode {
  const { data = [] } = useQuery(fieldsQuery(useClient()));
  const own = data.filter(({ team }) => team === null || team === issue.team.key);
  const set = (key: string, value: FieldValue | null): void => {
    const { [key]: _, ...others } = issue.fields;
    onChange({
      patch: { fields: { [key]: value } },
      draft: { fields: value === null ? others : { ...others, [key]: value } },
    });
  };
  return own.map((field) => (
    <Field key={field.id} label={field.name}>
      <FieldInput field={field} value={issue.fields[field.key]} onSet={(value) => set(field.key, value)} />
    </Field>
  ));
}
