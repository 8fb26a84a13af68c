import { ApiCallError, type Client, type Issue } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { replaceObject } from '../../data/live.ts';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useDraft } from '../../data/drafts.ts';
import { Button } from '../../parts/button.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { MarkdownField } from '../../parts/markdown/markdown-field.tsx';
import { notifyProblem } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issue.ts';

interface Edit {
  readonly value: string;
  /** Description that the edit began with, or that the person has compared it with since. */
  readonly base: string;
  /** Description of somebody else that arrived during the edit. */
  readonly theirs: string | null;
}

/**
 * Description with an editor. An edit survives a reload, and never overwrites a description that somebody else saved
 * meanwhile.
 */
export function Description({ issue }: { readonly issue: Issue }): ReactNode {
  const client = useClient();
  const [edit, setEdit, forget] = useDraft<Edit | null>(`description ${issue.id}`, null);
  if (!edit)
    return (
      <Shown
        issue={issue}
        onEdit={() => setEdit({ value: issue.description, base: issue.description, theirs: null })}
      />
    );
  const save = async (): Promise<void> => {
    try {
      const { value, base } = edit;
      const saved = await saveDescription(client, issue, { value, base });
      if (typeof saved === 'string') return setEdit({ value, base: saved, theirs: saved });
      replaceObject(queryClient, 'issues', saved);
      forget();
    } catch (error) {
      notifyProblem(error);
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
        <Button onClick={() => forget()}>{common.cancel}</Button>
      </div>
    </section>
  );
}

interface ShownProps {
  readonly issue: Issue;
  readonly onEdit: () => void;
}

function Shown({ issue, onEdit }: ShownProps): ReactNode {
  const client = useClient();
  /** Each check of a task applies to the text that is shown. */
  const changeTask = async (value: string): Promise<void> => {
    try {
      const saved = await saveDescription(client, issue, { value, base: issue.description });
      if (typeof saved === 'string') return notifyProblem(new Error(text.taskConflict));
      replaceObject(queryClient, 'issues', saved);
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <section className="stack">
      <h2 className="only-read">{text.description}</h2>
      {issue.description === '' ? (
        <p className="soft">{text.noDescription}</p>
      ) : (
        <Markdown source={issue.description} onTask={(source) => void changeTask(source)} />
      )}
      <div>
        <Button onClick={onEdit}>{text.editDescription}</Button>
      </div>
    </section>
  );
}

/** Each attempt follows a change of another field by somebody else. */
const attemptsMax = 5;

/**
 * Saves a description that replaces `base`.
 * @returns the changed issue; the current description if it is another one than `base`
 */
async function saveDescription(
  client: Client,
  issue: Pick<Issue, 'id' | 'version' | 'description'>,
  { value, base }: Pick<Edit, 'value' | 'base'>,
): Promise<Issue | string> {
  let current = issue;
  for (let attempt = 1; ; attempt++) {
    if (current.description !== base && current.description !== value) return current.description;
    try {
      return await client.issues.update(issue.id, { description: value }, { ifVersion: current.version });
    } catch (error) {
      const isStale = error instanceof ApiCallError && error.code === 'precondition_failed';
      if (!isStale || attempt === attemptsMax) throw error;
      current = await client.issues.get(issue.id);
    }
  }
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
