// Input for the value of a custom field.
import type { Field as CustomField, Issue } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useMembers } from '../../data/directory.ts';
import { text as common } from '../../text/common.ts';
import { MultiPicker, Picker } from '../picker.tsx';

export type FieldValue = Issue['fields'][string];

interface FieldInputProps {
  readonly field: CustomField;
  readonly value: FieldValue | undefined;
  readonly onSet: (value: FieldValue | null) => void;
}

export function FieldInput({ field, value, onSet }: FieldInputProps): ReactNode {
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
