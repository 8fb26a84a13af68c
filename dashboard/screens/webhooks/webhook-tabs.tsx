// Tabs of an endpoint besides its deliveries: the events that it receives, and its settings.
import type { Webhook } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { Button } from '../../parts/button.tsx';
import { Form } from '../../parts/fields.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { exactTime, Time } from '../../parts/issue/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/developers.ts';
import { addressPatchOf, draftOf, eventsPatchOf, withoutSecrets, type WebhookDraft } from './draft.ts';
import { refresh, type Open } from './webhook-dialogs.tsx';
import { AddressFields, EventFields } from './webhook-fields.tsx';

interface TabProps {
  readonly webhook: Webhook;
  readonly onOpen: (open: Open) => void;
}

export function EventsTab({ webhook, onOpen }: TabProps): ReactNode {
  const client = useClient();
  const [draft, setDraft] = useRetained('events', draftOf(webhook), (typed) => withStoredUrl(typed, webhook));
  const save = async (): Promise<null> => {
    await client.webhooks.update(webhook.id, eventsPatchOf(draft));
    notify(text.saved);
    await refresh();
    return null;
  };
  return (
    <div className="stack">
      <div className="row wrap">
        <Button onClick={() => onOpen('sample')}>{text.sample}</Button>
        <Button onClick={() => onOpen('replay')}>{text.replayMany}</Button>
      </div>
      <section className="card stack">
        <h2>{text.events}</h2>
        <Form submit={common.save} onSubmit={save}>
          <EventFields draft={draft} onChange={setDraft} />
        </Form>
      </section>
    </div>
  );
}

const withStoredUrl = (draft: WebhookDraft, { url }: Webhook): WebhookDraft => withoutSecrets(draft, url);

export function SettingsTab({ webhook, onOpen }: TabProps): ReactNode {
  const client = useClient();
  const [draft, setDraft] = useRetained('settings', draftOf(webhook), (typed) =>
    withStoredUrl(typed, webhook),
  );
  const save = async (): Promise<null> => {
    const saved = await client.webhooks.update(webhook.id, addressPatchOf(draft, webhook));
    notify(text.saved);
    // The API hides values in the query of a URL.
    setDraft(draftOf(saved));
    await refresh();
    return null;
  };
  return (
    <div className="stack">
      <section className="card stack">
        <h2>{text.settings}</h2>
        <Form submit={common.save} onSubmit={save}>
          <AddressFields draft={draft} onChange={setDraft} />
        </Form>
      </section>
      <Secret webhook={webhook} onOpen={onOpen} />
      <section className="card stack">
        <h2>{text.deleteWebhook}</h2>
        <p className="soft">{text.deleteHint}</p>
        <div>
          <Button look="danger" onClick={() => onOpen('delete')}>
            {common.delete}
          </Button>
        </div>
      </section>
    </div>
  );
}

function Secret({ webhook, onOpen }: TabProps): ReactNode {
  const { previousSecretExpiresAt, previousSecretLastSucceededAt } = webhook;
  return (
    <section className="card stack">
      <h2>{text.signingSecret}</h2>
      <p className="soft">{text.rotateHint}</p>
      {previousSecretExpiresAt !== null && <p>{text.overlap(exactTime(previousSecretExpiresAt))}</p>}
      {previousSecretLastSucceededAt !== null && (
        <p>
          {text.overlapUsed} <Time at={previousSecretLastSucceededAt} />
        </p>
      )}
      <div>
        <Button onClick={() => onOpen('rotate')}>{text.rotate}</Button>
      </div>
    </section>
  );
}
