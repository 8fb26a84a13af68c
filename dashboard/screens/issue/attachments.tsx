import type { Attachment, Issue } from '@tatami/sdk/client';
import { useRef, useState, type ChangeEvent, type DragEvent, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { copyText } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, TextField, textOf } from '../../parts/fields.tsx';
import { Icon } from '../../parts/icon.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issue.ts';
import { download, isImage, useAttachments, useUploads } from './files.ts';
import { FileImage, markdownOf } from './images.tsx';
import styles from './issue.module.css';

export function Attachments({ issue }: { readonly issue: Issue }): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const [isLinking, setLinking] = useState(false);
  const [isOver, setOver] = useState(false);
  const { attachments, refresh } = useAttachments(issue.id);
  const { uploads, upload, cancel } = useUploads(issue.id, () => void refresh());
  const pick = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    upload([...(target.files ?? [])]);
    // The same file can be chosen again.
    target.value = '';
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    upload([...event.dataTransfer.files]);
  };
  return (
    <section
      className={`${styles.drop} stack`}
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      onPaste={({ clipboardData }) => upload([...clipboardData.files])}
    >
      <div className="row wrap">
        <h2 className="grow">{text.attachments}</h2>
        <Button look="plain" onClick={() => input.current?.click()}>
          {text.addFile}
        </Button>
        <Button look="plain" onClick={() => setLinking(true)}>
          {text.addLink}
        </Button>
        <input ref={input} type="file" multiple hidden onChange={pick} />
      </div>
      <ul aria-label={text.attachments} className="stack">
        {attachments.map((attachment) => (
          <AttachmentRow key={attachment.id} attachment={attachment} onDeleted={() => void refresh()} />
        ))}
        {uploads.map(({ id, name, percent }) => (
          <li key={id} className="row" role="status">
            <span className="grow">{text.uploading(name, percent)}</span>
            <Button onClick={() => cancel(id)}>{common.cancel}</Button>
          </li>
        ))}
      </ul>
      {isLinking && (
        <LinkDialog issueId={issue.id} onClose={() => setLinking(false)} onDone={() => void refresh()} />
      )}
    </section>
  );
}

interface LinkDialogProps {
  readonly issueId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function LinkDialog({ issueId, onClose, onDone }: LinkDialogProps): ReactNode {
  const write = useWrite();
  const link = async (fields: FormData): Promise<unknown> => {
    const body = { title: textOf(fields, 'title'), url: textOf(fields, 'url') };
    const added = await write((client) => client.attachments.create(issueId, body));
    onDone();
    return added;
  };
  return (
    <Dialog title={text.addLink} isOpen onClose={onClose}>
      <Form submit={text.addLink} onSubmit={link} onDone={onClose}>
        <TextField label={text.linkUrl} name="url" type="url" required />
        <TextField label={text.linkTitle} name="title" required />
      </Form>
    </Dialog>
  );
}

interface AttachmentRowProps {
  readonly attachment: Attachment;
  readonly onDeleted: () => void;
}

function AttachmentRow({ attachment, onDeleted }: AttachmentRowProps): ReactNode {
  const write = useWrite();
  const client = useClient();
  const { id, kind, title, url, bytes } = attachment;
  const remove = async (): Promise<void> => {
    await write((client) => client.attachments.delete(id));
    onDeleted();
  };
  return (
    <li className="row wrap">
      {kind === 'link' ? (
        <a className="grow cut" href={url ?? ''} target="_blank" rel="noopener noreferrer">
          {title}
        </a>
      ) : (
        <Button look="plain" onClick={() => void download(client, attachment)}>
          {text.download(title)}
        </Button>
      )}
      {bytes !== null && <span className="soft">{text.bytes(Math.ceil(bytes / 1_024))}</span>}
      {isImage(attachment) && (
        <>
          <FileImage id={id} name={text.preview(title)} className={styles.preview} otherwise={null} />
          <Button
            look="plain"
            aria-label={text.copyMarkdownOf(title)}
            onClick={() => void copyText(markdownOf(attachment))}
          >
            {text.copyMarkdown}
          </Button>
        </>
      )}
      <Button look="plain" isIcon aria-label={text.removeAttachment(title)} onClick={() => void remove()}>
        <Icon name="close" />
      </Button>
    </li>
  );
}
