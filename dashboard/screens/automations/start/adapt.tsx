// Values of a template that a person adapts to the workspace.
import type { AutomationTemplate } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useLabels, useMembers, useTeams } from '../../../data/directory.ts';
import { FieldGroup, TextField } from '../../../parts/fields.tsx';
import { choiceOf } from '../../../parts/filter/words.ts';
import { Picker } from '../../../parts/picker.tsx';
import { text } from '../../../text/automations.ts';
import { ListField, type AliasedChoice } from '../editor/inputs.tsx';
import { valueAt, withPath, type Draft } from '../rule/rule.ts';
import { DurationField, isDuration } from './duration.tsx';

interface AdaptProps {
  readonly template: AutomationTemplate;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

type Need = AutomationTemplate['needs'][string];

export function Adapt({ template, draft, onChange }: AdaptProps): ReactNode {
  const needs = Object.entries(template.needs);
  const choices = useChoices();
  if (needs.length === 0) return null;
  return (
    <section className="card stack" aria-labelledby="adapt">
      <h2 id="adapt">{text.adapt}</h2>
      {needs.map(([name, need]) => (
        <NeedField
          key={name}
          need={need}
          value={valueIn(draft, name, need)}
          choices={choices[lastName(need, Object.keys(choices))]}
          onChange={(value) =>
            onChange(need.paths.reduce((rule, path) => withPath(rule, path, value), draft))
          }
        />
      ))}
    </section>
  );
}

/** Returns the value that the rule has; an empty one instead of the placeholder of a required value. */
function valueIn(draft: Draft, name: string, { paths: [path = ''], list }: Need): unknown {
  const value = valueAt(draft, path);
  if (value !== `$${name}`) return value;
  return list ? [] : '';
}

/** Returns the last of some names in the path of a value, such as `label` in `trigger.filter.label.neq`. */
const lastName = ({ paths: [path = ''] }: Need, names: readonly string[]): string =>
  path.split('.').findLast((name) => names.includes(name)) ?? '';

const named = ({ id, name }: { readonly id: string; readonly name: string }): AliasedChoice => ({
  id,
  name,
  alias: name,
});

/** Choices of the workspace, by the name of a part of a rule that holds one of them. */
function useChoices(): Readonly<Record<string, readonly AliasedChoice[]>> {
  const labels = useLabels().map(named);
  const teams = useTeams().map(({ key, name }) => ({ id: key, name, alias: name }));
  return { members: useMembers().map(named), label: labels, values: labels, team: teams };
}

interface NeedProps {
  readonly need: Need;
  readonly value: unknown;
  /** Absent for a value that the person writes. */
  readonly choices: readonly AliasedChoice[] | undefined;
  readonly onChange: (value: unknown) => void;
}

function NeedField({ need, value, choices, onChange }: NeedProps): ReactNode {
  // An error that the server has about the value names its path.
  const {
    list,
    paths: [name = ''],
  } = need;
  const label = labelOf(need, choices !== undefined);
  if (choices && list)
    return (
      <ListField
        label={label}
        name={name}
        choices={choices}
        values={Array.isArray(value) ? value.map(String) : []}
        onPick={onChange}
        empty={text.choose}
      />
    );
  if (choices)
    return (
      <ChoiceField label={label} name={name} choices={choices} value={String(value)} onPick={onChange} />
    );
  if (isDuration(need.default))
    return <DurationField label={label} name={name} value={String(value)} onChange={onChange} />;
  return <TypedField label={label} name={name} need={need} value={value} onChange={onChange} />;
}

const commas = /,? separated by commas$/;
/** How a written value names an object, which a picker shows by its name. */
const spelling = /^(ids|keys?)\b.*? of the /i;

const upperFirst = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

function labelOf({ doc, list }: Need, isChosen: boolean): string {
  const words = doc.replace(/\.$/, '').replace(commas, '');
  if (isChosen) return upperFirst(words.replace(spelling, ''));
  return list ? text.listOf(words) : words;
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly choices: readonly AliasedChoice[];
  readonly value: string;
  readonly onPick: (id: string) => void;
}

function ChoiceField({ label, name, choices, value, onPick }: ChoiceProps): ReactNode {
  const chosen = choiceOf(choices, value);
  const unknown = chosen || value === '' ? [] : [{ id: value, name: value }];
  return (
    <FieldGroup label={label} name={name}>
      <div>
        <Picker
          label={label}
          choices={[...choices, ...unknown]}
          value={chosen?.id ?? value}
          onPick={onPick}
          empty={text.choose}
        />
      </div>
    </FieldGroup>
  );
}

interface TypedProps extends Omit<NeedProps, 'choices'> {
  readonly label: string;
  readonly name: string;
}

/** Value that a person writes; a list with commas, of which the text keeps those that end it. */
function TypedField({ label, name, need, value, onChange }: TypedProps): ReactNode {
  const [typed, setTyped] = useState<string | null>(null);
  const stored = [value].flat().join(', ');
  const isNumber = typeof need.default === 'number';
  const change = (next: string): void => {
    setTyped(next);
    if (need.list)
      onChange(
        next
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean),
      );
    else onChange(isNumber ? Number(next) : next);
  };
  return (
    <TextField
      label={label}
      name={name}
      type={isNumber ? 'number' : 'text'}
      value={typed ?? stored}
      onChange={({ target }) => change(target.value)}
      onBlur={() => setTyped(null)}
      required
    />
  );
}
