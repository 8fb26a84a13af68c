// Deliveries of one endpoint, or of all, by state, with one of them beside the list. Filters and selection are in the URL.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Delivery, WebhookDeliveriesQuery } from '@tatami/sdk/client';
import { EVENT_TYPES } from '@tatami/sdk/webhooks';
import { useRef, type KeyboardEvent, type ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/fields.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Empty } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/developers.ts';
import { DeliveryPanel } from './delivery-panel.tsx';
import { refreshMs } from './delivery-view.tsx';
import { failing, failingPage, originalOf } from './outcome.ts';
import styles from './webhooks.module.css';

interface DeliverySearch {
  readonly status?: string;
  readonly eventType?: string;
  readonly since?: string;
  readonly until?: string;
  /** Id of the delivery beside the list. */
  readonly delivery?: string;
}

/** Width from which a delivery opens beside the list, as in the styles. */
const hasPanel = (): boolean => matchMedia('(width >= 1100px)').matches;

const statuses = [[failing, text.failing] as const, ...Object.entries(text.deliveryStatus)];

/** @param webhook id of the endpoint; by default the deliveries to all endpoints are listed */
export function DeliveryList({ webhook }: { readonly webhook?: string }): ReactNode {
  const client = useClient();
  const navigate = useNavigate();
  const search: DeliverySearch = useSearch({ strict: false });
  const { status, delivery: shown } = search;
  const query = queryOf(search);
  const read = (part: WebhookDeliveriesQuery) =>
    webhook === undefined
      ? client.deliveries.list({ ...query, ...part })
      : client.webhooks.deliveries(webhook, { ...query, ...part });
  const deliveries = usePages(
    ['deliveries', webhook ?? 'all', status, query],
    async ({ after }) => (status === failing ? failingPage(read, after) : read(after ? { after } : {})),
    { refreshMs },
  );
  const set = (part: DeliverySearch): void => {
    const next = Object.entries({ ...search, ...part }).filter(
      ([, value]) => value !== '' && value !== undefined,
    );
    void navigate({ to: '.', search: Object.fromEntries(next) as never, replace: true });
  };
  const show = (id: string): void => set({ delivery: id });
  const list = useRef<HTMLDivElement>(null);
  const linkOf = (id: string): HTMLElement | null =>
    list.current?.querySelector(`[data-delivery="${id}"]`) ?? null;
  /** Focuses a neighbor of a delivery, and shows it if one is shown. */
  const move = (id: string, by: 1 | -1): void => {
    const next = neighborOf(deliveries.items ?? [], id, by);
    if (!next) return;
    linkOf(next.id)?.focus();
    if (shown !== undefined) show(next.id);
  };
  const close = (): void => {
    set({ delivery: '' });
    if (shown !== undefined) linkOf(shown)?.focus();
  };
  return (
    <div className={styles.split}>
      <div ref={list} className={`${styles.list} stack`}>
        <Statuses status={status ?? ''} onPick={(picked) => set({ status: picked })} />
        <Fields search={search} onChange={set} />
        <Paged pages={deliveries} empty={<Empty title={text.noDeliveries} hint={text.noDeliveriesHint} />}>
          {(items) => (
            <DeliveryTable
              deliveries={items}
              shown={shown ?? null}
              onShow={show}
              onMove={move}
              onReplayed={deliveries.reload}
            />
          )}
        </Paged>
      </div>
      {shown !== undefined && <DeliveryPanel id={shown} onClose={close} onMove={(by) => move(shown, by)} />}
    </div>
  );
}

function queryOf({ status, eventType, since, until }: DeliverySearch): WebhookDeliveriesQuery {
  return {
    limit: 50,
    ...(status !== undefined && status !== failing && { status }),
    ...(eventType !== undefined && { eventType }),
    ...timeOf('since', since),
    ...timeOf('until', until),
  } as WebhookDeliveriesQuery;
}

/** Returns the first delivery for one that is no longer in the list; null at an end. */
function neighborOf(all: readonly Delivery[], id: string, by: 1 | -1): Delivery | null {
  const at = all.findIndex((one) => one.id === id);
  return all[at < 0 ? 0 : at + by] ?? null;
}

interface StatusesProps {
  readonly status: string;
  readonly onPick: (status: string) => void;
}

function Statuses({ status, onPick }: StatusesProps): ReactNode {
  return (
    <div className="tabs" role="group" aria-label={text.status}>
      {[['', text.all] as const, ...statuses].map(([value, name]) => (
        <Button
          key={value}
          aria-pressed={status === value}
          look={status === value ? 'primary' : 'plain'}
          onClick={() => onPick(value)}
        >
          {name}
        </Button>
      ))}
    </div>
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

const steps: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 };

interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  /** Id of the delivery beside the list; null for none. */
  readonly shown: string | null;
  readonly onShow: (id: string) => void;
  readonly onMove: (id: string, by: 1 | -1) => void;
  readonly onReplayed: () => void;
}

function DeliveryTable({ deliveries, shown, onShow, onMove, onReplayed }: DeliveryTableProps): ReactNode {
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
          {deliveries.map(
            ({ id, eventId, webhookId, eventType, origin, status, attempts, createdAt, nextAttemptAt }) => (
              <tr key={id}>
                <th scope="row">
                  <DeliveryLink id={id} isShown={shown === id} onShow={onShow} onMove={onMove}>
                    {eventType}
                  </DeliveryLink>
                  {origin === 'sample' && <span className="chip">{text.sampleOrigin}</span>}
                  {origin === 'replay' && (
                    <ReplayNote original={originalOf(deliveries, eventId, webhookId)} />
                  )}
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
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

/** @param original null if it is not among the loaded deliveries */
function ReplayNote({ original }: { readonly original: Delivery | null }): ReactNode {
  if (!original) return <span className="chip">{text.replay}</span>;
  return (
    <div className="soft">
      {text.replayOf}{' '}
      <Link to="/deliveries/$id" params={{ id: original.id }}>
        <Time at={original.createdAt} />
      </Link>
    </div>
  );
}

interface DeliveryLinkProps extends Pick<DeliveryTableProps, 'onShow' | 'onMove'> {
  readonly id: string;
  readonly isShown: boolean;
  readonly children: ReactNode;
}

function DeliveryLink({ id, isShown, onShow, onMove, children }: DeliveryLinkProps): ReactNode {
  return (
    <Link
      to="/deliveries/$id"
      params={{ id }}
      data-delivery={id}
      aria-current={isShown ? 'true' : undefined}
      onClick={(event) => {
        // A narrow screen, and a click for another tab, open the page of the delivery.
        if (!hasPanel() || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onShow(id);
      }}
      onKeyDown={(event: KeyboardEvent) => {
        const by = steps[event.key];
        if (by === undefined) return;
        event.preventDefault();
        onMove(id, by);
      }}
    >
      {children}
    </Link>
  );
}
