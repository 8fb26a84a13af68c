// Editor of a rule with its preview beside it.
import { useDeferredValue, type ReactNode } from 'react';
import { Form } from '../../parts/fields.tsx';
import { useFilterChoices } from '../../parts/filter/choices.tsx';
import styles from './automations.module.css';
import { Editor } from './editor/editor.tsx';
import { Preview } from './preview/preview.tsx';
import type { Draft, Rule } from './rule/rule.ts';
import { sentenceOf } from './rule/sentence.ts';

interface RuleFormProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly submit: string;
  readonly onSubmit: () => Promise<unknown>;
  /** Rule whose backtest exists already. */
  readonly stored: { readonly rule: Rule; readonly id: string } | null;
}

export function RuleForm({ draft, onChange, submit, onSubmit, stored }: RuleFormProps): ReactNode {
  const names = useFilterChoices();
  const shown = useDeferredValue(draft);
  return (
    <div className={styles.split}>
      <Form submit={submit} onSubmit={onSubmit}>
        <Editor draft={draft} onChange={onChange} />
      </Form>
      <aside className={`card stack ${styles.preview}`}>
        <p>{sentenceOf(shown, names)}.</p>
        <Preview rule={draft} stored={stored} />
      </aside>
    </div>
  );
}
