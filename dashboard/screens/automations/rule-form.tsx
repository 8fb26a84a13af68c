// Editor of a rule with its preview beside it.
import { useDeferredValue, useState, type ReactNode } from 'react';
import { useMay } from '../../data/provider.tsx';
import { Form } from '../../parts/fields.tsx';
import { useFilterChoices } from '../../parts/filter/choices.tsx';
import { fixWords, problemWords } from '../../text/automation-problems.ts';
import styles from './automations.module.css';
import { Editor } from './editor/editor.tsx';
import { Preview } from './preview/preview.tsx';
import type { Stored } from './preview/use-preview.ts';
import { isSame, valueAt, type Draft } from './rule/rule.ts';
import { sentenceOf } from './rule/sentence.ts';

interface RuleFormProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly submit: string;
  readonly onSubmit: () => Promise<unknown>;
  /** Null for a rule that is not saved yet. */
  readonly stored: Stored | null;
  /** Shown above the editor. */
  readonly start?: ReactNode;
  /** Shown above the button that saves. */
  readonly children?: ReactNode;
}

export function RuleForm({
  draft,
  onChange,
  submit,
  onSubmit,
  stored,
  start,
  children,
}: RuleFormProps): ReactNode {
  const mayWrite = useMay('automations:write');
  const names = useFilterChoices();
  const shown = useDeferredValue(draft);
  const [sent, setSent] = useState(draft);
  const save = (): Promise<unknown> => {
    setSent(draft);
    return onSubmit();
  };
  return (
    <div className={styles.split}>
      {mayWrite ? (
        <Form
          submit={submit}
          onSubmit={save}
          wordsOf={{ atField: fixWords, named: (detail) => problemWords(detail, draft) }}
          isEdited={(name) => !isSame(valueAt(draft, name), valueAt(sent, name))}
        >
          {start}
          <Editor draft={draft} onChange={onChange} />
          {children}
        </Form>
      ) : (
        <fieldset className="field" disabled>
          <Editor draft={draft} onChange={onChange} />
        </fieldset>
      )}
      <aside className={`card stack ${styles.preview}`}>
        <p>{sentenceOf(shown, names)}.</p>
        <Preview rule={draft} stored={stored} />
      </aside>
    </div>
  );
}
