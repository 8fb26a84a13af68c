import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import type { Webhook } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { useWrite } from '../../data/writes.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Bar, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/developers.ts';
import { DeliveryList } from './delivery-list.tsx';
import { refreshMs } from './delivery-view.tsx';
import { firstOutcome } from './outcome.ts';
import { refresh, WebhookDialogs, type Open } from './webhook-dialogs.tsx';
import { EventsTab, SettingsTab } from './webhook-tabs.tsx';
import { healthOf } from './webhooks.tsx';

const tabs = ['deliveries', 'events', 'settings'] as const;
type Tab = (typeof tabs)[number];

export default function WebhookPage(): ReactNode {
  const { id } = useParams({ from: '/webhooks/$id' });
  const { tab: asked } = useSearch({ from: '/webhooks/$id' });
  const tab = tabs.find((one) => one === asked) ?? 'deliveries';
  const client = useClient();
  const webhook = useQuery({ queryKey: ['webhooks', id], queryFn: () => client.webhooks.get(id) });
  const [open, setOpen] = useRetained<Open | null>('dialog', null);
  if (webhook.error) return <FailedScreen error={webhook.error} retry={() => void webhook.refetch()} />;
  if (!webhook.data) return <Loading />;
  return (
    <Screen
      title={webhook.data.url}
      actions={<Actions webhook={webhook.data} />}
      bars={<Tabs id={id} tab={tab} />}
    >
      <div className="stack">
        <Health webhook={webhook.data} />
        {tab === 'deliveries' && (
          <>
            <Replays id={id} />
            <DeliveryList webhook={id} />
          </>
        )}
        {tab === 'events' && <EventsTab webhook={webhook.data} onOpen={setOpen} />}
        {tab === 'settings' && <SettingsTab webhook={webhook.data} onOpen={setOpen} />}
      </div>
      <WebhookDialogs webhook={webhook.data} open={open} onClose={() => setOpen(null)} />
    </Screen>
  );
}

function Tabs({ id, tab }: { readonly id: string; readonly tab: Tab }): ReactNode {
  return (
    <Bar label={text.tabList}>
      {tabs.map((one) => (
        <LinkButton
          key={one}
          to="/webhooks/$id"
          params={{ id }}
          search={one === 'deliveries' ? {} : { tab: one }}
          look={one === tab ? 'primary' : 'plain'}
          aria-current={one === tab ? 'page' : undefined}
        >
          {text.tabs[one]}
        </LinkButton>
      ))}
    </Bar>
  );
}

function Actions({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const write = useWrite();
  const [isPinging, setPinging] = useState(false);
  const { id, enabled } = webhook;
  const ping = async (): Promise<void> => {
    setPinging(true);
    const outcome = await write(async (client) => {
      const { id: delivery } = await client.webhooks.ping(id);
      await queryClient.invalidateQueries({ queryKey: ['deliveries'] });
      return firstOutcome(client, delivery);
    });
    setPinging(false);
    if (outcome !== null) notify(outcome);
    await Promise.all([refresh(), queryClient.invalidateQueries({ queryKey: ['deliveries'] })]);
  };
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
      <Button disabled={isPinging} onClick={() => void ping()}>
        {isPinging ? text.pinging : text.ping}
      </Button>
    </>
  );
}

function Health({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { enabled, description } = webhook;
  return (
    <p className={enabled ? 'notice' : 'notice warning'}>
      <strong>{healthOf(webhook)}</strong> {description}
    </p>
  );
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
