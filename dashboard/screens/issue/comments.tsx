import { useQuery } from '@tanstack/react-query';
import type { Comment } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { queryClient, useClient, useSession } from '../../data/provider.tsx';
import { useDraft } from '../../data/drafts.ts';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { MarkdownField } from '../../parts/markdown/markdown-field.tsx';
import { Avatar, Time } from '../../parts/issue/symbols.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issue.ts';
import { commentsKey, type ReactionGroups } from './comment-pages.ts';
import { Reactions } from './reactions.tsx';
import styles from './issue.module.css';

interface ThreadProps {
  readonly issueId: string;
  readonly comment: Comment;
  readonly replies: readonly Comment[];
  /** Reactions by the id of their comment. */
  readonly reactions: ReadonlyMap<string, ReactionGroups>;
}

const refreshComments = (issueId: string): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: commentsKey(issueId) });

export function Thread({ issueId, comment, replies, reactions }: ThreadProps): ReactNode {
  const write = useWrite();
  const [isReplying, setReplying] = useState(false);
  const { id, resolvedAt, resolvedBy, author } = comment;
  const toggle = async (): Promise<void> => {
    await write((client) =>
      resolvedAt === null ? client.comments.resolve(id) : client.comments.unresolve(id),
    );
    await refreshComments(issueId);
  };
  return (
    <li className="card stack">
      <CommentView issueId={issueId} comment={comment} reactions={reactions} />
      {resolvedBy && <p className="soft">{text.resolvedBy(resolvedBy.name)}</p>}
      {replies.map((reply) => (
        <div key={reply.id} className={styles.reply}>
          <CommentView issueId={issueId} comment={reply} reactions={reactions} />
        </div>
      ))}
      <div className="row">
        <Button look="plain" aria-label={text.replyTo(author.name)} onClick={() => setReplying(!isReplying)}>
          {text.reply}
        </Button>
        <Button look="plain" onClick={() => void toggle()}>
          {resolvedAt === null ? text.resolve : text.unresolve}
        </Button>
      </div>
      {isReplying && <NewComment issueId={issueId} parentId={id} onDone={() => setReplying(false)} />}
    </li>
  );
}

function CommentView({ issueId, comment, reactions }: Omit<ThreadProps, 'replies'>): ReactNode {
  const { member } = useSession();
  const write = useWrite();
  const [edit, setEdit] = useState<string | null>(null);
  const { id, author, body, createdAt, editedAt } = comment;
  const save = async (): Promise<void> => {
    const saved = await write((client) => client.comments.update(id, { body: edit ?? body }));
    if (!saved) return;
    setEdit(null);
    await refreshComments(issueId);
  };
  const remove = async (): Promise<void> => {
    const isDeleted = await write(async (client) => {
      await client.comments.delete(id);
      return true;
    });
    if (!isDeleted) return;
    notify(text.commentDeleted, {
      label: common.undo,
      run: () =>
        void write((client) => client.comments.restore(id), text.commentRestored).then(() =>
          refreshComments(issueId),
        ),
    });
    await refreshComments(issueId);
  };
  return (
    <div className="stack">
      <p className="row wrap">
        <Avatar name={author.name} /> <strong>{author.name}</strong> <Time at={createdAt} />
        {editedAt !== null && <Edits issueId={issueId} id={id} />}
        <span className="grow" />
        {author.id === member.id && (
          <>
            <Button look="plain" onClick={() => setEdit(body)}>
              {common.edit}
            </Button>
            <Button look="plain" onClick={() => void remove()}>
              {common.delete}
            </Button>
          </>
        )}
      </p>
      {edit === null ? (
        <Markdown source={body} />
      ) : (
        <Editor value={edit} onChange={setEdit} onSave={() => void save()} />
      )}
      <Reactions issueId={issueId} commentId={id} groups={reactions.get(id) ?? []} />
    </div>
  );
}

interface EditorProps {
  readonly value: string;
  /** @param value null to cancel the edit */
  readonly onChange: (value: string | null) => void;
  readonly onSave: () => void;
}

function Editor({ value, onChange, onSave }: EditorProps): ReactNode {
  return (
    <>
      <MarkdownField label={text.comment} value={value} onChange={onChange} />
      <div className="row">
        <Button look="primary" onClick={onSave}>
          {common.save}
        </Button>
        <Button onClick={() => onChange(null)}>{common.cancel}</Button>
      </div>
    </>
  );
}

/** Earlier versions of a comment, loaded when they are opened. */
function Edits({ issueId, id }: { readonly issueId: string; readonly id: string }): ReactNode {
  const client = useClient();
  const [isOpen, setOpen] = useState(false);
  const { data = [] } = useQuery({
    queryKey: [...commentsKey(issueId), 'history', id],
    enabled: isOpen,
    queryFn: ({ signal }) => Array.fromAsync(client.comments.history(id, { limit: 100 }, { signal })),
    meta: { follows: [id] },
  });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="soft">{text.edited}</summary>
      <ol aria-label={text.history}>
        {data.map(({ editedAt: at, body }) => (
          <li key={at}>
            <Time at={at} />
            <pre>{body}</pre>
          </li>
        ))}
      </ol>
    </details>
  );
}

interface NewCommentProps {
  readonly issueId: string;
  readonly parentId?: string;
  readonly onDone?: () => void;
}

/** Form for a comment. Its draft is stored in this browser until it is sent. */
export function NewComment({ issueId, parentId, onDone }: NewCommentProps): ReactNode {
  const write = useWrite();
  const [body, change, forget] = useDraft(`comment ${parentId ?? issueId}`, '');
  const [isSending, setSending] = useState(false);
  const send = async (): Promise<void> => {
    if (body.trim() === '' || isSending) return;
    setSending(true);
    const sent = await write((client) =>
      client.comments.create(issueId, { body, ...(parentId !== undefined && { parentId }) }),
    );
    setSending(false);
    if (!sent) return;
    forget();
    onDone?.();
    await refreshComments(issueId);
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <MarkdownField
        label={parentId === undefined ? text.comment : text.reply}
        rows={3}
        value={body}
        onChange={(value) => (value === '' ? forget() : change(value))}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      <div>
        <Button type="submit" disabled={isSending}>
          {parentId === undefined ? text.addComment : text.reply}
        </Button>
      </div>
    </form>
  );
}
