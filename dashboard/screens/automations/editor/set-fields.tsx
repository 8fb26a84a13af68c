// Fields that an action sets: a picker, an input or an expression for each.
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { fieldsQuery, useCycles, useMembers, useProjects, useTeams } from '../../../data/directory.ts';
import { useClient } from '../../../data/provider.tsx';
import { Button } from '../../../parts/button.tsx';
import { FieldGroup, TextField } from '../../../parts/fields.tsx';
import { priorityChoices, stateTypeChoices, useStateNames } from '../../../parts/filter/choices.tsx';
import { choiceOf } from '../../../parts/filter/words.ts';
import { Icon } from '../../../parts/icon.tsx';
import { Menu, MenuItem } from '../../../parts/overlay/menu.tsx';
import { Picker } from '../../../parts/picker.tsx';
import { wordsOfName } from '../../../text/common.ts';
import { text } from '../../../text/automation-editor.ts';
import { isExpression, partOf, withMember, type Part } from '../rule/rule.ts';
import { CustomValues } from './custom-values.tsx';
import { JsonField, TemplateField, type AliasedChoice } from './inputs.tsx';

type Field = keyof typeof text.fields;
const fieldNames = Object.keys(text.fields) as readonly Field[];
const longTexts: readonly string[] = ['description'];
const inputTypes: Readonly<Record<string, string>> = { dueDate: 'date', estimate: 'number' };

const isField = (name: string): name is Field => Object.hasOwn(text.fields, name);
/** The API accepts ids as `assigneeId`, and names and ids as `assignee`. */
const baseOf = (name: string): string => name.replace(/Id$/, '');
const labelOf = (name: string): string => {
  const base = baseOf(name);
  return isField(base) ? text.fields[base] : wordsOfName(base);
};

const none = (name: string): AliasedChoice => ({ id: '', name });
const named = ({ id, name }: { readonly id: string; readonly name: string }): AliasedChoice => ({
  id,
  name,
  alias: name,
});

/** Choices by field; the id of "empty" is empty. */
function useFieldChoices(): Readonly<Record<string, readonly AliasedChoice[]>> {
  const empty = none(text.clearField);
  const states = useStateNames(new Set(useTeams().map(({ key }) => key)));
  return {
    state: [...states, ...stateTypeChoices.map(({ id, name }) => ({ id, name: text.stateOfType(name) }))],
    priority: priorityChoices,
    assignee: [empty, ...useMembers().map(named)],
    project: [empty, ...useProjects().map(named)],
    cycle: [empty, ...useCycles().map(named)],
  };
}

interface SetProps {
  readonly fields: Part;
  readonly at: string;
  readonly onChange: (fields: Part) => void;
}

export function SetFields({ fields, at, onChange }: SetProps): ReactNode {
  const choices = useFieldChoices();
  const { data: customFields = [] } = useQuery(fieldsQuery(useClient()));
  const used = Object.keys(fields).map(baseOf);
  const custom = partOf(fields, 'fields') ?? {};
  const setCustom = (values: Part): void =>
    onChange(withMember(fields, 'fields', Object.keys(values).length > 0 ? values : undefined));
  const add = (name: Field): void => onChange({ ...fields, [name]: initialOf(choices[name]) });
  return (
    <>
      {Object.entries(withMember(fields, 'fields', undefined)).map(([name, value]) => (
        <div key={name} className="row wrap" role="group" aria-label={labelOf(name)}>
          <div className="grow">
            <ValueField
              name={name}
              at={`${at}.${name}`}
              value={value}
              choices={choices[baseOf(name)]}
              onChange={(next) => onChange(withMember(fields, name, next ?? null))}
            />
          </div>
          <Button
            look="plain"
            isIcon
            aria-label={text.removeField(labelOf(name))}
            onClick={() => onChange(withMember(fields, name, undefined))}
          >
            <Icon name="close" />
          </Button>
        </div>
      ))}
      <CustomValues values={custom} at={`${at}.fields`} fields={customFields} onChange={setCustom} />
      <div>
        <Menu button={`+ ${text.addField}`}>
          {fieldNames
            .filter((name) => !used.includes(name))
            .map((name) => (
              <MenuItem key={name} onSelect={() => add(name)}>
                {text.fields[name]}
              </MenuItem>
            ))}
          {customFields
            .filter(({ key }) => !(key in custom))
            .map(({ id, key, name }) => (
              <MenuItem key={id} onSelect={() => setCustom({ ...custom, [key]: null })}>
                {name}
              </MenuItem>
            ))}
        </Menu>
      </div>
    </>
  );
}

const initialOf = (choices: readonly AliasedChoice[] | undefined): unknown => choices?.[0]?.id || null;

interface ValueProps {
  readonly name: string;
  readonly at: string;
  readonly value: unknown;
  readonly choices: readonly AliasedChoice[] | undefined;
  readonly onChange: (value: unknown) => void;
}

function ValueField(props: ValueProps): ReactNode {
  const { name, at, value, choices, onChange } = props;
  const label = labelOf(name);
  if (typeof value === 'object' && value !== null)
    return <JsonField label={label} name={at} value={value} onChange={onChange} />;
  if (choices) return <ChoiceField {...props} choices={choices} />;
  const base = baseOf(name);
  const type = inputTypes[base];
  if (type === undefined || isExpression(value))
    return (
      <TemplateField
        label={label}
        name={at}
        value={textOfValue(value)}
        isLong={longTexts.includes(base)}
        onChange={(typed) => onChange(typed === '' ? null : typed)}
      />
    );
  const typedValue = (typed: string): unknown => (type === 'number' ? Number(typed) : typed);
  return (
    <TextField
      label={label}
      name={at}
      type={type}
      value={textOfValue(value)}
      onChange={({ target }) => onChange(target.value === '' ? null : typedValue(target.value))}
    />
  );
}

const textOfValue = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** Picker, which a button replaces by a text for expressions and names that the list lacks. */
function ChoiceField({
  name,
  at,
  value,
  choices,
  onChange,
}: ValueProps & { readonly choices: readonly AliasedChoice[] }): ReactNode {
  const label = labelOf(name);
  const chosen = choiceOf(choices, textOfValue(value));
  const [isText, setText] = useState(!chosen && value !== null && isExpression(value));
  const toggle = (
    <Button
      look="plain"
      aria-label={isText ? text.useChoice(label) : text.useExpression(label)}
      onClick={() => {
        onChange(isText ? initialOf(choices) : value);
        setText(!isText);
      }}
    >
      {isText ? text.choose : '{ }'}
    </Button>
  );
  if (isText)
    return (
      <div className="stack">
        <TemplateField label={label} name={at} value={textOfValue(value)} onChange={onChange} />
        <div>{toggle}</div>
      </div>
    );
  const unknown = chosen || value === null ? [] : [{ id: textOfValue(value), name: textOfValue(value) }];
  return (
    <FieldGroup label={label} name={at}>
      <div className="row">
        <Picker
          label={label}
          choices={[...choices, ...unknown]}
          value={chosen?.id ?? textOfValue(value)}
          onPick={(id) => onChange(id === '' ? null : id)}
          empty={text.choose}
        />
        {toggle}
      </div>
    </FieldGroup>
  );
}

/** Returns the fields of an action that sets some. */
export const fieldsOf = (action: Part): Part => partOf(action, 'fields') ?? {};
