// Deliveries of one endpoint, or of all, by state. The filters are in the URL.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Delivery, WebhookDeliveriesQuery } from '@tatami/sdk/client';
import { EVENT_TYPES } from '@tatami/sdk/webhooks';
import type { ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/fields.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Empty } from '../../parts/states.tsx';
import { Time } from '../../parts/symbols.tsx';
import { text } from '../../text/developers.ts';
import { refreshMs } from './webhook.tsx';

interface DeliverySearch {
  readonly status?: string;
  readonly eventType?: string;
  readonly since?: string;
  readonly until?: string;
}

const statuses = Object.entries(text.deliveryStatus);

/** @param webhook id of the endpoint; by default the deliveries to all endpoints are listed */
export function DeliveryList({ webhook }: { readonly webhook?: string }): ReactNode {
  const client = useClient();
  const navigate = useNavigate();
  const search: DeliverySearch = useSearch({ strict: false });
  const { status, eventType, since, until } = search;
  const query = {
    limit: 50,
    ...(status !== undefined && { status }),
    ...(eventType !== undefined && { eventType }),
    ...timeOf('since', since),
    ...timeOf('until', until),
  } as WebhookDeliveriesQuery;
  const deliveries = usePages(
    ['deliveries', webhook ?? 'all', search],
    async (after) =>
      webhook === undefined
        ? client.deliveries.list({ ...query, ...after })
        : client.webhooks.deliveries(webhook, { ...query, ...after }),
    { refreshMs },
  );
  const set = (part: DeliverySearch): void => {
    const next = Object.entries({ ...search, ...part }).filter(
      ([, value]) => value !== '' && value !== undefined,
    );
    void navigate({ to: '.', search: Object.fromEntries(next) as never, replace: true });
  };
  return (
    <>
      <div className="tabs" role="group" aria-label={text.status}>
        {[['', text.all] as const, ...statuses].map(([value, name]) => (
          <Button
            key={value}
            aria-pressed={(status ?? '') === value}
            look={(status ?? '') === value ? 'primary' : 'plain'}
            onClick={() => set({ status: value })}
          >
            {name}
          </Button>
        ))}
      </div>
      <Fields search={search} onChange={set} />
      <Paged pages={deliveries} empty={<Empty title={text.noDeliveries} hint={text.noDeliveriesHint} />}>
        {(items) => <DeliveryTable deliveries={items} onReplayed={deliveries.reload} />}
      </Paged>
    </>
  );
}

interface FieldsProps {
  readonly search: DeliverySearch;
  readonly onChange: (part: DeliverySearch) => void;
}

function Fields({ search, onChange }: FieldsProps): ReactNode {
  return (
    <div className="row wrap">
      <SelectField
        label={text.eventType}
        value={search.eventType ?? ''}
        options={[['', text.all], ...EVENT_TYPES.map((type) => [type, type] as const)]}
        onPick={(type) => onChange({ eventType: type })}
      />
      <TextField
        label={text.since}
        type="datetime-local"
        defaultValue={search.since}
        onBlur={({ target }) => onChange({ since: target.value })}
      />
      <TextField
        label={text.until}
        type="datetime-local"
        defaultValue={search.until}
        onBlur={({ target }) => onChange({ until: target.value })}
      />
    </div>
  );
}

/** A time of the URL that is none is ignored. */
function timeOf(name: 'since' | 'until', value: string | undefined): object {
  const ms = Date.parse(value ?? '');
  return Number.isNaN(ms) ? {} : { [name]: new Date(ms).toISOString() };
}

interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  readonly onReplayed: () => void;
}

function DeliveryTable({ deliveries, onReplayed }: DeliveryTableProps): ReactNode {
  const write = useWrite();
  const replay = async (id: string): Promise<void> => {
    await write((client) => client.deliveries.replay(id), text.replayed);
    onReplayed();
  };
  return (
    <div className="wide-table">
      <table aria-label={text.deliveries}>
        <thead>
          <tr>
            <th scope="col">{text.eventType}</th>
            <th scope="col">{text.status}</th>
            <th scope="col">{text.attempts}</th>
            <th scope="col">{text.created}</th>
            <th scope="col">{text.nextRetry}</th>
            <th scope="col">{text.actions}</th>
          </tr>
        </thead>
        <tbody>
          {deliveries.map(({ id, eventType, status, attempts, createdAt, nextAttemptAt }) => (
            <tr key={id}>
              <th scope="row">
                <Link to="/deliveries/$id" params={{ id }}>
                  {eventType}
                </Link>
              </th>
              <td>{text.deliveryStatus[status]}</td>
              <td>{attempts}</td>
              <td>
                <Time at={createdAt} />
              </td>
              <td>{nextAttemptAt !== null && <Time at={nextAttemptAt} />}</td>
              <td>
                <Button aria-label={`${text.replay} ${eventType}`} onClick={() => void replay(id)}>
                  {text.replay}
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
