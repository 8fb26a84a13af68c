import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTeams } from '../../data/directory.ts';
import { useClient, useSession } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { MarkdownField } from '../../parts/markdown-field.tsx';
import { messageOf } from '../../parts/states.tsx';
import { notify } from '../../parts/toast.tsx';
import { text } from '../../text/create.ts';
import { emptyDraft, requestOf, storedDraft, storeDraft, type IssueDraft } from './draft.ts';
import { DraftFields } from './draft-fields.tsx';
import { Similar } from './similar.tsx';

const TemplatesDialog = lazy(() => import('./templates.tsx'));

interface CreateDialogProps {
  readonly preset: Partial<IssueDraft>;
  readonly onClose: () => void;
}

export default function CreateDialog({ preset, onClose }: CreateDialogProps): ReactNode {
  const { draft, team, change, discard } = useDraft(preset);
  const titleInput = useRef<HTMLInputElement>(null);
  const [another, setAnother] = useState(false);
  const [areTemplatesOpen, setTemplates] = useState(false);
  const { create, error, isSending } = useCreate(draft, team, () => {
    discard();
    if (!another) onClose();
    else titleInput.current?.focus();
  });
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void create();
  };
  return (
    <Dialog title={text.newIssue} isOpen onClose={onClose} initialFocus={titleInput}>
      <form
        className="stack"
        onKeyDown={onKey}
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <TextField
          ref={titleInput}
          label={text.title}
          value={draft.title}
          maxLength={500}
          aria-invalid={error !== null}
          aria-describedby="create-problem"
          onChange={({ target }) => change({ title: target.value })}
        />
        <Similar title={draft.title} />
        <MarkdownField
          label={text.description}
          value={draft.description}
          onChange={(description) => change({ description })}
        />
        <DraftFields draft={draft} team={team} onChange={change} onTemplates={() => setTemplates(true)} />
        <p id="create-problem" role="alert" className={error === null ? '' : 'notice problem'}>
          {error}
        </p>
        <Footer
          isSending={isSending}
          another={another}
          onAnother={setAnother}
          onDiscard={() => {
            discard();
            onClose();
          }}
        />
        <p className="soft">{text.hint}</p>
      </form>
      {/* Outside of the form, whose keys would act in the inner dialog, too. */}
      <Suspense>
        {areTemplatesOpen && <TemplatesDialog team={team} onClose={() => setTemplates(false)} />}
      </Suspense>
    </Dialog>
  );
}

interface FooterProps {
  readonly isSending: boolean;
  readonly another: boolean;
  readonly onAnother: (another: boolean) => void;
  readonly onDiscard: () => void;
}

function Footer({ isSending, another, onAnother, onDiscard }: FooterProps): ReactNode {
  return (
    <div className="row wrap">
      <Button type="submit" look="primary" disabled={isSending}>
        {text.create}
      </Button>
      <label className="row">
        <input type="checkbox" checked={another} onChange={({ target }) => onAnother(target.checked)} />
        {text.another}
      </label>
      <span className="grow" />
      <Button look="plain" onClick={onDiscard}>
        {text.discard}
      </Button>
    </div>
  );
}

interface DraftState {
  readonly draft: IssueDraft;
  /** Key of the chosen team, or of the first one. */
  readonly team: string;
  change(part: Partial<IssueDraft>): void;
  discard(): void;
}

function useDraft(preset: Partial<IssueDraft>): DraftState {
  const { workspace, member } = useSession();
  const teams = useTeams();
  const [draft, setDraft] = useState<IssueDraft>(() => ({
    ...emptyDraft,
    ...storedDraft(workspace.id, member.id),
    ...preset,
  }));
  useEffect(() => storeDraft(workspace.id, member.id, draft), [workspace.id, member.id, draft]);
  return {
    draft,
    team: draft.team === '' ? (teams[0]?.key ?? '') : draft.team,
    change: (part) => setDraft((before) => ({ ...before, ...part })),
    discard: () => setDraft((before) => ({ ...emptyDraft, team: before.team, projectId: before.projectId })),
  };
}

function useCreate(draft: IssueDraft, team: string, onDone: () => void) {
  const client = useClient();
  const navigate = useNavigate();
  const [error, setError] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const create = async (): Promise<void> => {
    if (draft.title.trim() === '') return setError(text.titleMissing);
    if (isSending) return;
    setSending(true);
    setError(null);
    try {
      const { identifier, id } = await client.issues.create(requestOf(draft, team));
      const name = identifier ?? id;
      const open = (): void => void navigate({ to: '/issues/$identifier', params: { identifier: name } });
      notify(text.created(name), { label: text.open, run: open });
      onDone();
    } catch (reason) {
      setError(messageOf(reason));
    } finally {
      setSending(false);
    }
  };
  return { create, error, isSending };
}
