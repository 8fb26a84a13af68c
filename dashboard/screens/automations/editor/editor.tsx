// Editor of a rule in the blocks When, If and Then.
import type { ReactNode } from 'react';
import { FieldGroup, TextField } from '../../../parts/fields.tsx';
import { text } from '../../../text/automation-editor.ts';
import { parseRule, ruleOf, type Draft, type Rule } from '../rule/rule.ts';
import { ActionFields } from './actions.tsx';
import { ConditionFields } from './conditions.tsx';
import { JsonField } from './inputs.tsx';
import { TriggerFields } from './trigger.tsx';

interface EditorProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

const nameMax = 120;
const descriptionMax = 2_000;

/** Fields of a form; the form around them saves and shows problems. */
export function Editor({ draft, onChange }: EditorProps): ReactNode {
  return (
    <>
      <TextField
        label={text.name}
        name="name"
        value={draft.name}
        placeholder={text.namePlaceholder}
        maxLength={nameMax}
        onChange={({ target }) => onChange({ ...draft, name: target.value })}
        required
      />
      <TextField
        label={text.description}
        name="description"
        value={draft.description}
        maxLength={descriptionMax}
        onChange={({ target }) => onChange({ ...draft, description: target.value })}
      />
      <Block name="trigger">
        <TriggerFields trigger={draft.trigger} onChange={(trigger) => onChange({ ...draft, trigger })} />
      </Block>
      <Block name="conditions">
        <ConditionFields draft={draft} onChange={onChange} />
      </Block>
      <Block name="actions">
        <ActionFields actions={draft.actions} onChange={(actions) => onChange({ ...draft, actions })} />
      </Block>
      <details>
        <summary>{text.advanced}</summary>
        <div className="stack">
          <p className="soft">{text.advancedHint}</p>
          <JsonField
            label={text.ruleJson}
            name="rule"
            rows={16}
            value={ruleOf(draft)}
            parse={parseRule}
            problem={text.badRule}
            onChange={(rule) => onChange({ ...draft, ...(rule as Rule) })}
          />
        </div>
      </details>
    </>
  );
}

interface BlockProps {
  readonly name: keyof typeof text.blocks;
  readonly children: ReactNode;
}

function Block({ name, children }: BlockProps): ReactNode {
  return (
    <section className="card stack">
      <FieldGroup label={text.blocks[name]} name={name}>
        <p className="soft">{text.hints[name]}</p>
        {children}
      </FieldGroup>
    </section>
  );
}
