import { ApiCallError, type Issue } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { replaceObject } from '../../data/live.ts';
import { queryClient, useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { MarkdownField } from '../../parts/markdown-field.tsx';
import { notifyProblem } from '../../parts/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issue.ts';

interface Edit {
  readonly value: string;
  /** Version of the issue that the edit began with, or that was compared since. */
  readonly version: number;
  /** Description of somebody else that arrived during the edit. */
  readonly theirs: string | null;
}

/** Description with an editor. An edit never overwrites one that somebody else made meanwhile. */
export function Description({ issue }: { readonly issue: Issue }): ReactNode {
  const client = useClient();
  const [edit, setEdit] = useState<Edit | null>(null);
  if (!edit)
    return (
      <section className="stack">
        <h2 className="only-read">{text.description}</h2>
        {issue.description === '' ? (
          <p className="soft">{text.noDescription}</p>
        ) : (
          <Markdown source={issue.description} />
        )}
        <div>
          <Button onClick={() => setEdit({ value: issue.description, version: issue.version, theirs: null })}>
            {text.editDescription}
          </Button>
        </div>
      </section>
    );
  const save = async (): Promise<void> => {
    try {
      const changed = await client.issues.update(
        issue.id,
        { description: edit.value },
        { ifVersion: edit.version },
      );
      replaceObject(queryClient, 'issues', changed);
      setEdit(null);
    } catch (error) {
      if (!(error instanceof ApiCallError && error.code === 'precondition_failed'))
        return notifyProblem(error);
      // Another field may have changed: the text is compared.
      const current = await client.issues.get(issue.id);
      setEdit({ ...edit, version: current.version, theirs: current.description });
    }
  };
  return (
    <section className="stack">
      {edit.theirs !== null && <Conflict theirs={edit.theirs} />}
      <MarkdownField
        label={text.description}
        rows={12}
        value={edit.value}
        onChange={(value) => setEdit({ ...edit, value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save();
        }}
      />
      <div className="row">
        <Button look="primary" onClick={() => void save()}>
          {common.save}
        </Button>
        <Button onClick={() => setEdit(null)}>{common.cancel}</Button>
      </div>
    </section>
  );
}

function Conflict({ theirs }: { readonly theirs: string }): ReactNode {
  return (
    <div className="notice warning stack" role="alert">
      <p>{text.conflict}</p>
      <h3>{text.theirs}</h3>
      <pre>{theirs}</pre>
    </div>
  );
}
