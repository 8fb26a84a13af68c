import { useNavigate } from '@tanstack/react-router';
import { ApiCallError, type IssueCreate } from '@tatami/sdk/client';
import { lazy, Suspense, useRef, useState, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import { useTeams } from '../../data/directory.ts';
import { useDraft } from '../../data/drafts.ts';
import { useApp } from '../../data/provider.tsx';
import { startUpload } from '../../data/uploads.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Icon } from '../../parts/icon.tsx';
import { MarkdownField } from '../../parts/markdown/markdown-field.tsx';
import { messageOf } from '../../parts/states.tsx';
import { notify, notifyProblem } from '../../parts/overlay/toast.tsx';
import { text } from '../../text/create.ts';
import type { Preset } from './create.tsx';
import { emptyDraft, requestOf, type IssueDraft } from './draft.ts';
import { DraftFields } from './draft-fields.tsx';
import { Files, takesFiles } from './files.tsx';
import { Similar } from './similar.tsx';

const TemplatesDialog = lazy(() => import('./templates.tsx'));

interface CreateDialogProps {
  readonly preset: Preset;
  readonly onClose: () => void;
}

export default function CreateDialog({
  preset: { parent: given, ...preset },
  onClose,
}: CreateDialogProps): ReactNode {
  const [parent, setParent] = useState(given);
  const { draft, team, change, discard } = useIssueDraft(preset);
  const titleInput = useRef<HTMLInputElement>(null);
  const [another, setAnother] = useState(false);
  const [areTemplatesOpen, setTemplates] = useState(false);
  const [files, setFiles] = useState<readonly File[]>([]);
  const { create, error, isSending } = useCreate(requestOf(draft, team, parent?.id ?? ''), files, () => {
    discard();
    setFiles([]);
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
        {...takesFiles((added) => setFiles([...files, ...added]))}
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        {parent && <ParentRow parent={parent} onRemove={() => setParent(undefined)} />}
        <Texts draft={draft} error={error} titleInput={titleInput} onChange={change} />
        <DraftFields draft={draft} team={team} onChange={change} onTemplates={() => setTemplates(true)} />
        <Files files={files} onChange={setFiles} />
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

interface TextsProps {
  readonly draft: IssueDraft;
  readonly error: string | null;
  readonly titleInput: RefObject<HTMLInputElement | null>;
  readonly onChange: (part: Partial<IssueDraft>) => void;
}

function Texts({ draft: { title, description }, error, titleInput, onChange }: TextsProps): ReactNode {
  return (
    <>
      <TextField
        ref={titleInput}
        label={text.title}
        value={title}
        maxLength={500}
        aria-invalid={error !== null}
        aria-describedby="create-problem"
        onChange={({ target }) => onChange({ title: target.value })}
      />
      <Similar title={title} />
      <MarkdownField
        label={text.description}
        value={description}
        onChange={(changed) => onChange({ description: changed })}
      />
    </>
  );
}

interface ParentRowProps {
  readonly parent: NonNullable<Preset['parent']>;
  readonly onRemove: () => void;
}

function ParentRow({ parent: { id, identifier, title }, onRemove }: ParentRowProps): ReactNode {
  return (
    <p className="row">
      <span className="soft cut">{text.parent(identifier ?? id, title)}</span>
      <Button look="plain" isIcon aria-label={text.removeParent} onClick={onRemove}>
        <Icon name="close" />
      </Button>
    </p>
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

function useIssueDraft(preset: Partial<IssueDraft>): DraftState {
  const teams = useTeams();
  const [draft, store, forget] = useDraft('issue', emptyDraft, preset);
  const { team, projectId } = draft;
  return {
    draft,
    team: team === '' ? (teams[0]?.key ?? '') : team,
    change(part) {
      const next = { ...draft, ...part };
      if (next.title === '' && next.description === '') forget(next);
      else store(next);
    },
    discard: () => forget({ ...emptyDraft, team, projectId }),
  };
}

/** Returns true if the server certainly created nothing. */
function isRefused(reason: unknown): boolean {
  if (!(reason instanceof ApiCallError)) return false;
  return reason.status >= 400 && reason.status < 500 && reason.code !== 'idempotency_in_progress';
}

function problemOf(reason: unknown): string {
  if (!(reason instanceof ApiCallError)) return messageOf(reason);
  if (reason.status === 0) return text.unanswered;
  return reason.code === 'idempotency_key_reused' ? text.createdBefore : messageOf(reason);
}

function useCreate(request: IssueCreate, files: readonly File[], onDone: () => void) {
  const { client, token } = useApp();
  const navigate = useNavigate();
  const [error, setError] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  // Two key presses may arrive before the dialog renders again.
  const sending = useRef(false);
  // The server may have created the issue of a lost answer. The next attempt has the same key, so it creates no second.
  const unanswered = useRef<string | null>(null);
  const create = async (): Promise<void> => {
    if (request.title.trim() === '') return setError(text.titleMissing);
    if (sending.current) return;
    sending.current = true;
    setSending(true);
    setError(null);
    const idempotencyKey = (unanswered.current ??= crypto.randomUUID());
    try {
      const { identifier, id } = await client.issues.create(request, { idempotencyKey });
      unanswered.current = null;
      await Promise.all(files.map((file) => startUpload(token, id, file).done.catch(notifyProblem)));
      const name = identifier ?? id;
      const open = (): void => void navigate({ to: '/issues/$identifier', params: { identifier: name } });
      notify(text.created(name), { label: text.open, run: open });
      onDone();
    } catch (reason) {
      if (isRefused(reason)) unanswered.current = null;
      setError(problemOf(reason));
    } finally {
      sending.current = false;
      setSending(false);
    }
  };
  return { create, error, isSending };
}
