import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { Webhook } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/developers.ts';
import { DeliveryList } from './delivery-list.tsx';
import { EditWebhook, ReplayMany, SendSample } from './webhook-forms.tsx';
import { healthOf } from './webhooks.tsx';

/** Deliveries have no events of their own. */
export const refreshMs = 3_000;

type Open = 'edit' | 'sample' | 'replay' | 'rotate' | 'delete';

export default function WebhookPage(): ReactNode {
  const { id } = useParams({ from: '/webhooks/$id' });
  const client = useClient();
  const webhook = useQuery({ queryKey: ['webhooks', id], queryFn: () => client.webhooks.get(id) });
  const [open, setOpen] = useRetained<Open | null>('dialog', null);
  if (webhook.error) return <FailedScreen error={webhook.error} retry={() => void webhook.refetch()} />;
  if (!webhook.data) return <Loading />;
  return (
    <Screen title={webhook.data.url} actions={<Actions webhook={webhook.data} onOpen={setOpen} />}>
      <div className="stack">
        <Health webhook={webhook.data} />
        <Replays id={id} />
        <h2>{text.deliveries}</h2>
        <DeliveryList webhook={id} />
      </div>
      <Dialogs webhook={webhook.data} open={open} onClose={() => setOpen(null)} />
    </Screen>
  );
}

const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['webhooks'] });

function Actions({
  webhook,
  onOpen,
}: {
  readonly webhook: Webhook;
  readonly onOpen: (open: Open) => void;
}): ReactNode {
  const write = useWrite();
  const { id, enabled } = webhook;
  const toggle = async (): Promise<void> => {
    await write(
      (client) => client.webhooks.update(id, { enabled: !enabled }),
      enabled ? text.switchedOff : text.switchedOn,
    );
    await refresh();
  };
  return (
    <>
      <Button onClick={() => void toggle()}>{enabled ? text.switchOff : text.switchOn}</Button>
      <Button onClick={() => void write((client) => client.webhooks.ping(id), text.sent).then(refresh)}>
        {text.ping}
      </Button>
      <Menu button={common.more}>
        <MenuItem onSelect={() => onOpen('sample')}>{text.sample}</MenuItem>
        <MenuItem onSelect={() => onOpen('replay')}>{text.replayMany}</MenuItem>
        <MenuItem onSelect={() => onOpen('rotate')}>{text.rotate}</MenuItem>
        <MenuItem onSelect={() => onOpen('edit')}>{text.settings}</MenuItem>
        <MenuItem onSelect={() => onOpen('delete')}>{common.delete}</MenuItem>
      </Menu>
    </>
  );
}

function Health({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { enabled, description, events, filter, previousSecretExpiresAt, previousSecretLastSucceededAt } =
    webhook;
  return (
    <div className={enabled ? 'notice' : 'notice warning'}>
      <p>
        <strong>{healthOf(webhook)}</strong> {description}
      </p>
      <p>
        {text.events}: {events.join(', ')}
      </p>
      {filter !== null && (
        <p>
          {text.filter}: <code>{JSON.stringify(filter)}</code>
        </p>
      )}
      {previousSecretExpiresAt !== null && (
        <p>
          {text.overlap} <Time at={previousSecretExpiresAt} />.
        </p>
      )}
      {previousSecretLastSucceededAt !== null && (
        <p>
          {text.overlapUsed} <Time at={previousSecretLastSucceededAt} />
        </p>
      )}
    </div>
  );
}

interface DialogsProps {
  readonly webhook: Webhook;
  readonly open: Open | null;
  readonly onClose: () => void;
}

function Dialogs({ webhook, open, onClose }: DialogsProps): ReactNode {
  const write = useWrite();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string | null>(null);
  const { id } = webhook;
  const done = (): void => void refresh();
  const rotate = async (): Promise<void> => {
    const rotated = await write((client) => client.webhooks.rotate(id));
    if (rotated) setSecret(rotated.secret);
    done();
  };
  const remove = async (): Promise<void> => {
    const isDeleted = await write(async (client) => (await client.webhooks.delete(id), true));
    if (isDeleted) void navigate({ to: '/webhooks' });
  };
  if (secret !== null)
    return <SecretDialog title={text.rotated} secret={secret} onClose={() => setSecret(null)} />;
  switch (open) {
    case null:
      return null;
    case 'edit':
      return <EditWebhook webhook={webhook} onClose={onClose} onDone={done} />;
    case 'sample':
      return <SendSample id={id} onClose={onClose} onDone={done} />;
    case 'replay':
      return <ReplayMany id={id} onClose={onClose} onDone={done} />;
    case 'rotate':
      return (
        <Confirm
          title={text.rotateTitle}
          hint={text.rotateHint}
          action={text.rotate}
          onClose={onClose}
          onConfirm={() => void rotate()}
        />
      );
    case 'delete':
      return (
        <Confirm
          title={text.deleteTitle}
          hint={text.deleteHint}
          action={common.delete}
          onClose={onClose}
          onConfirm={() => void remove()}
        />
      );
  }
}

function Replays({ id }: { readonly id: string }): ReactNode {
  const client = useClient();
  const write = useWrite();
  const replays = usePages(
    ['webhooks', 'replays', id],
    async (after) => client.webhooks.replays(id, { limit: 5, ...after }),
    { refreshMs },
  );
  if (!replays.items || replays.items.length === 0) return null;
  return (
    <section className="stack">
      <h2>{text.replays}</h2>
      <ul>
        {replays.items.map(({ id: replay, status, afterSequence, currentSequence, lastSequence }) => (
          <li key={replay} className="row wrap">
            <span>{text.replayStatus[status]}</span>
            <span className="soft">
              {text.progress(currentSequence - afterSequence, lastSequence - afterSequence)}
            </span>
            {status === 'running' && (
              <Button onClick={() => void write((api) => api.replays.cancel(replay)).then(replays.reload)}>
                {common.cancel}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
