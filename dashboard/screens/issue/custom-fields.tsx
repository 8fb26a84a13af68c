import { useQuery } from '@tanstack/react-query';
import type { Field as CustomField, Issue } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { MultiPicker, Picker } from '../../parts/picker.tsx';
import { text as common } from '../../text/common.ts';
import { useMembers } from '../../data/directory.ts';
import { Field, type Change } from './fields.tsx';

interface CustomFieldsProps {
  readonly issue: Issue;
  readonly onChange: Change;
}

type Value = Issue['fields'][string];

/** Custom fields of the workspace and of the team of the issue. */
export function CustomFields({ issue, onChange }: CustomFieldsProps): ReactNode {
  const client = useClient();
  const { data = [] } = useQuery({
    queryKey: ['fields', 'all'],
    queryFn: () => Array.fromAsync(client.fields.list({ limit: 100 })),
  });
  const own = data.filter(({ team }) => team === null || team === issue.team.key);
  const set = (key: string, value: Value | null): void => {
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

interface FieldInputProps {
  readonly field: CustomField;
  readonly value: Value | undefined;
  readonly onSet: (value: Value | null) => void;
}

function FieldInput({ field, value, onSet }: FieldInputProps): ReactNode {
  const members = useMembers().map(({ id, name }) => ({ id, name }));
  const { type, name } = field;
  const options = (field.options ?? []).map((option) => ({ id: option.value, name: option.name }));
  if (type === 'checkbox')
    return (
      <input
        type="checkbox"
        aria-label={name}
        checked={value === true}
        onChange={({ target }) => onSet(target.checked)}
      />
    );
  if (type === 'multi_select')
    return (
      <MultiPicker
        label={name}
        choices={options}
        values={Array.isArray(value) ? value.map(String) : []}
        onPick={(picked) => onSet(picked.length === 0 ? null : picked)}
      />
    );
  if (type === 'select' || type === 'member')
    return (
      <Picker
        label={name}
        choices={[{ id: '', name: common.none }, ...(type === 'member' ? members : options)]}
        value={typeof value === 'string' ? value : ''}
        onPick={(picked) => onSet(picked === '' ? null : picked)}
        look="plain"
      />
    );
  return <PlainInput field={field} value={value} onSet={onSet} />;
}

function PlainInput({ field: { type, name }, value, onSet }: FieldInputProps): ReactNode {
  const kind = type === 'number' ? 'number' : type === 'date' ? 'date' : 'text';
  const save = (given: string): void => {
    const next = given === '' ? null : type === 'number' ? Number(given) : given;
    if (next !== (value ?? null)) onSet(next);
  };
  return (
    <input
      key={String(value)}
      type={kind}
      aria-label={name}
      defaultValue={value === undefined ? '' : String(value)}
      onBlur={({ target }) => save(target.value)}
    />
  );
}
