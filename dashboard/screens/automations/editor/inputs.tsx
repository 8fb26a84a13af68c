// Inputs of rules: JSON, texts with expressions, filters and lists of choices.
import { useId, useRef, useState, type ReactNode } from 'react';
import { FieldGroup, TextArea, TextField } from '../../../parts/fields.tsx';
import { FilterBar } from '../../../parts/filter/filter-bar.tsx';
import type { ChipField, FilterTree } from '../../../parts/filter/filter.ts';
import { choiceOf } from '../../../parts/filter/words.ts';
import { Menu, MenuItem } from '../../../parts/overlay/menu.tsx';
import { MultiPicker, type Choice } from '../../../parts/picker.tsx';
import { text } from '../../../text/automation-editor.ts';
import type { Part } from '../rule/rule.ts';

interface JsonFieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: unknown;
  /** Called with each text that is valid; undefined for an empty one. */
  readonly onChange: (value: unknown) => void;
  /** Reads the text. @returns null for an invalid value */
  readonly parse?: (json: string) => unknown;
  readonly problem?: string;
  readonly rows?: number;
}

/** JSON that a person edits. While it has the focus, it shows what was typed, also if that is no JSON yet. */
export function JsonField({
  label,
  name,
  value,
  onChange,
  parse,
  problem,
  rows = 4,
}: JsonFieldProps): ReactNode {
  const [typed, setTyped] = useState<string | null>(null);
  const stored = value === undefined ? '' : JSON.stringify(value, null, 2);
  const change = (field: HTMLTextAreaElement): void => {
    setTyped(field.value);
    const read = field.value.trim() === '' && !parse ? undefined : (parse ?? parsed)(field.value);
    field.setCustomValidity(read === null && field.value.trim() !== 'null' ? (problem ?? text.badJson) : '');
    if (field.validity.valid) onChange(read);
  };
  return (
    <TextArea
      label={label}
      name={name}
      rows={rows}
      spellCheck={false}
      value={typed ?? stored}
      onChange={({ target }) => change(target)}
      onBlur={({ target }) => target.validity.valid && setTyped(null)}
      // The browser cannot show why the form is not sent in a closed block.
      onInvalid={({ currentTarget }) => currentTarget.closest('details')?.setAttribute('open', '')}
    />
  );
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return null;
  }
}

interface TemplateProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** True for a text of several lines. */
  readonly isLong?: boolean;
  readonly placeholder?: string;
}

/** Text that may contain expressions, which a menu inserts at the cursor. */
export function TemplateField({
  label,
  name,
  value,
  onChange,
  isLong = false,
  placeholder,
}: TemplateProps): ReactNode {
  const field = useRef<HTMLTextAreaElement & HTMLInputElement>(null);
  const insert = (expression: string): void => {
    const { selectionStart, selectionEnd } = field.current!;
    const start = selectionStart ?? value.length;
    onChange(`${value.slice(0, start)}{{ ${expression} }}${value.slice(selectionEnd ?? start)}`);
  };
  const shared = { label, name, value, placeholder, ref: field };
  return (
    <div className="stack">
      {isLong ? (
        <TextArea {...shared} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <TextField {...shared} onChange={({ target }) => onChange(target.value)} />
      )}
      <div>
        <Menu button={`{ } ${text.insert}`} label={`${text.insert}: ${label}`} look="plain">
          {Object.entries(text.expressions).map(([expression, words]) => (
            <MenuItem key={expression} onSelect={() => insert(expression)}>
              {words}
            </MenuItem>
          ))}
        </Menu>
      </div>
    </div>
  );
}

interface FilterFieldProps {
  readonly label: string;
  readonly name: string;
  readonly filter: Part | undefined;
  /** Called with undefined without conditions. */
  readonly onChange: (filter: FilterTree | undefined) => void;
  readonly fields?: readonly ChipField[];
}

export function FilterField({ label, name, filter, onChange, fields }: FilterFieldProps): ReactNode {
  return (
    <FieldGroup label={label} name={name}>
      <FilterBar filter={filter} onChange={onChange} {...(fields && { fields })} />
    </FieldGroup>
  );
}

export interface AliasedChoice extends Choice {
  /** Another spelling of the value, such as a name. */
  readonly alias?: string;
}

interface ListFieldProps {
  readonly label: string;
  readonly name: string;
  readonly choices: readonly AliasedChoice[];
  readonly values: readonly string[];
  readonly onPick: (values: readonly string[]) => void;
  readonly empty?: string;
}

/** Several values of a list. A value that the list lacks, such as an expression, stays until it is removed. */
export function ListField({ label, name, choices, values, onPick, empty }: ListFieldProps): ReactNode {
  const unknown = values.filter((value) => !choiceOf(choices, value)).map((id): Choice => ({ id, name: id }));
  return (
    <FieldGroup label={label} name={name}>
      <MultiPicker
        label={label}
        choices={[...choices, ...unknown]}
        values={values.map((value) => choiceOf(choices, value)?.id ?? value)}
        onPick={onPick}
        {...(empty !== undefined && { empty })}
      />
    </FieldGroup>
  );
}

const zones = Intl.supportedValuesOf('timeZone');
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

interface ZoneProps {
  readonly name: string;
  readonly value: string;
  readonly onChange: (zone: string) => void;
}

export function ZoneField({ name, value, onChange }: ZoneProps): ReactNode {
  const list = useId();
  return (
    <>
      <TextField
        label={text.timeZone}
        name={name}
        value={value}
        placeholder="UTC"
        list={list}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={list}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}
