// Values of a template that a person adapts to the workspace.
import type { AutomationTemplate } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { TextField } from '../../../parts/fields.tsx';
import { text } from '../../../text/automations.ts';
import { valueAt, withPath, type Draft } from '../rule/rule.ts';

interface AdaptProps {
  readonly template: AutomationTemplate;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

type Need = AutomationTemplate['needs'][string];

const docOf = ({ doc }: Need): string => doc.replace(/\.$/, '');

/** Returns a value as the rule has it: a list is written with commas. */
function valueOf({ list, default: initial }: Need, typed: string): unknown {
  if (list)
    return typed
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  return typeof initial === 'number' ? Number(typed) : typed;
}

/** Returns the value that the rule has as text; empty for the placeholder of a required one. */
function textIn(draft: Draft, name: string, { paths: [path = ''] }: Need): string {
  const value = valueAt(draft, path);
  return value === `$${name}` ? '' : [value].flat().join(', ');
}

export function Adapt({ template, draft, onChange }: AdaptProps): ReactNode {
  const needs = Object.entries(template.needs);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const shown = ([name, need]: readonly [string, Need]): string => typed[name] ?? textIn(draft, name, need);
  if (needs.length === 0) return null;
  const change = (name: string, need: Need, value: string): void => {
    setTyped({ ...typed, [name]: value });
    onChange(need.paths.reduce((rule, path) => withPath(rule, path, valueOf(need, value)), draft));
  };
  return (
    <section className="card stack" aria-labelledby="adapt">
      <h2 id="adapt">{text.adapt}</h2>
      {needs.map(([name, need]) => (
        <TextField
          key={name}
          label={need.list ? text.listOf(docOf(need)) : docOf(need)}
          type={typeof need.default === 'number' ? 'number' : 'text'}
          value={shown([name, need])}
          onChange={({ target }) => change(name, need, target.value)}
          required
        />
      ))}
    </section>
  );
}
