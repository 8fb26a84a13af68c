import type { Webhook, WebhookReplay } from '@tatami/sdk/client';
import { EVENT_TYPES } from '@tatami/sdk/webhooks';
import { useState, type ReactNode } from 'react';
import { useRetained } from '../../data/retained.ts';
import { useWrite } from '../../data/writes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/developers.ts';
import { bodyOf, draftOf, emptyWebhook, patchOf, withoutSecrets } from './draft.ts';
import { WebhookFields } from './webhook-fields.tsx';

interface FormProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function NewWebhook({ onClose, onDone }: FormProps): ReactNode {
  const write = useWrite();
  const [draft, setDraft] = useRetained('new', emptyWebhook, (typed) => withoutSecrets(typed));
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null) return <SecretDialog title={text.webhookCreated} secret={secret} onClose={onClose} />;
  const create = async (): Promise<unknown> => {
    const made = await write((client) => client.webhooks.create(bodyOf(draft)));
    if (!made) return null;
    setSecret(made.secret);
    onDone();
    return null;
  };
  return (
    <Dialog title={text.newWebhook} isOpen onClose={onClose}>
      <Form submit={text.newWebhook} onSubmit={create} onDone={onClose}>
        <WebhookFields draft={draft} onChange={setDraft} />
      </Form>
    </Dialog>
  );
}

export function EditWebhook({
  webhook,
  onClose,
  onDone,
}: FormProps & { readonly webhook: Webhook }): ReactNode {
  const write = useWrite();
  const [draft, setDraft] = useRetained('edit', draftOf(webhook), (typed) =>
    withoutSecrets(typed, webhook.url),
  );
  const save = async (): Promise<unknown> => {
    const saved = await write(
      (client) => client.webhooks.update(webhook.id, patchOf(draft, webhook)),
      text.saved,
    );
    onDone();
    return saved;
  };
  return (
    <Dialog title={text.settings} isOpen onClose={onClose}>
      <Form submit={common.save} onSubmit={save} onDone={onClose}>
        <WebhookFields draft={draft} onChange={setDraft} />
      </Form>
    </Dialog>
  );
}

export function SendSample({ id, onClose, onDone }: FormProps & { readonly id: string }): ReactNode {
  const write = useWrite();
  const [type, setType] = useState<string>('issue.created');
  const send = async (): Promise<unknown> => {
    const sent = await write((client) => client.webhooks.sample(id, { type }), text.sent);
    onDone();
    return sent;
  };
  return (
    <Dialog title={text.sample} isOpen onClose={onClose}>
      <Form submit={text.sample} onSubmit={send} onDone={onClose}>
        <SelectField
          label={text.sampleType}
          value={type}
          options={EVENT_TYPES.map((one) => [one, one] as const)}
          onPick={setType}
        />
      </Form>
    </Dialog>
  );
}

export function ReplayMany({ id, onClose, onDone }: FormProps & { readonly id: string }): ReactNode {
  const write = useWrite();
  const [only, setOnly] = useState<NonNullable<WebhookReplay['only']>>('undelivered');
  const start = async (fields: FormData): Promise<unknown> => {
    const since = new Date(textOf(fields, 'since')).toISOString();
    const started = await write((client) => client.webhooks.replay(id, { since, only }), text.replayStarted);
    onDone();
    return started;
  };
  return (
    <Dialog title={text.replayMany} isOpen onClose={onClose}>
      <Form submit={text.replayMany} onSubmit={start} onDone={onClose}>
        <p className="soft">{text.replayHint}</p>
        <TextField label={text.replaySince} name="since" type="datetime-local" required />
        <SelectField
          label={text.replayOnly}
          value={only}
          options={Object.entries(text.replayOnlyNames)}
          onPick={(picked) => setOnly(picked === 'all' ? 'all' : 'undelivered')}
        />
      </Form>
    </Dialog>
  );
}
