import { Link } from '@tanstack/react-router';
import type { Webhook } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { Button } from '../../parts/button.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Empty, Screen } from '../../parts/states.tsx';
import { text } from '../../text/developers.ts';
import { DeliveryList } from './delivery-list.tsx';
import { NewWebhook } from './webhook-forms.tsx';

export default function Webhooks(): ReactNode {
  const client = useClient();
  const [isOpen, setOpen] = useRetained('dialog', false);
  const webhooks = usePages(['webhooks', 'list'], async (after) =>
    client.webhooks.list({ limit: 100, ...after }),
  );
  return (
    <Screen
      title={text.webhooks}
      actions={
        <Button look="primary" onClick={() => setOpen(true)}>
          {text.newWebhook}
        </Button>
      }
    >
      <div className="stack">
        <Paged pages={webhooks} empty={<Empty title={text.noWebhooks} hint={text.noWebhooksHint} />}>
          {(items) => <WebhookTable webhooks={items} />}
        </Paged>
        {webhooks.items && webhooks.items.length > 0 && (
          <section className="stack">
            <h2>{text.allDeliveries}</h2>
            <DeliveryList />
          </section>
        )}
      </div>
      {isOpen && <NewWebhook onClose={() => setOpen(false)} onDone={webhooks.reload} />}
    </Screen>
  );
}

/** State of an endpoint in words. */
export function healthOf({ enabled, disabledReason }: Webhook): string {
  if (enabled) return text.enabled;
  return disabledReason === null ? text.disabledByHand : text.disabledBecause(disabledReason);
}

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }): ReactNode {
  return (
    <div className="wide-table">
      <table aria-label={text.webhooks}>
        <thead>
          <tr>
            <th scope="col">{text.url}</th>
            <th scope="col">{text.description}</th>
            <th scope="col">{text.health}</th>
            <th scope="col">{text.events}</th>
          </tr>
        </thead>
        <tbody>
          {webhooks.map((webhook) => (
            <tr key={webhook.id}>
              <th scope="row">
                <Link to="/webhooks/$id" params={{ id: webhook.id }}>
                  {webhook.url}
                </Link>
              </th>
              <td>{webhook.description}</td>
              <td>{healthOf(webhook)}</td>
              <td>{webhook.events.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
