import type { WebhookReplay } from '@tatami/sdk/client';
import { EVENT_TYPES } from '@tatami/sdk/webhooks';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { useWrite } from '../../data/writes.ts';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { SecretDialog } from '../../parts/overlay/secret-dialog.tsx';
import { text } from '../../text/developers.ts';
import { bodyOf, emptyWebhook, withoutSecrets } from './draft.ts';
import { AddressFields, EventFields } from './webhook-fields.tsx';

interface FormProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function NewWebhook({ onClose, onDone }: FormProps): ReactNode {
  const client = useClient();
  const [draft, setDraft] = useRetained('new', emptyWebhook, (typed) => withoutSecrets(typed));
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null) return <SecretDialog title={text.webhookCreated} secret={secret} onClose={onClose} />;
  const create = async (): Promise<null> => {
    const made = await client.webhooks.create(bodyOf(draft));
    setSecret(made.secret);
    onDone();
    return null;
  };
  return (
    <Dialog title={text.newWebhook} isOpen onClose={onClose}>
      <Form submit={text.newWebhook} onSubmit={create} onDone={onClose}>
        <AddressFields draft={draft} onChange={setDraft} />
        <EventFields draft={draft} onChange={setDraft} />
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
