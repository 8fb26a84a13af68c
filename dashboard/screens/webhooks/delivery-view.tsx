// A delivery with its request and its attempts, on its own page and beside the list.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { DeliveryDetail } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { copyText } from '../../parts/copy.tsx';
import { notify, notifyProblem } from '../../parts/overlay/toast.tsx';
import { text } from '../../text/developers.ts';
import { curlOf } from './curl.ts';
import { prettyJson } from './outcome.ts';

/** Deliveries have no events of their own. */
export const refreshMs = 3_000;

const unfinished = ['pending', 'delivering', 'retrying'];

export function useDelivery(id: string): UseQueryResult<DeliveryDetail> {
  const client = useClient();
  return useQuery({
    queryKey: ['deliveries', 'one', id],
    queryFn: () => client.deliveries.get(id),
    refetchInterval: ({ state }) =>
      state.data && !unfinished.includes(state.data.status) ? false : refreshMs,
  });
}

export function DeliveryView({ delivery }: { readonly delivery: DeliveryDetail }): ReactNode {
  const { status, nextAttemptAt, eventId, payload, attemptList, webhookId } = delivery;
  return (
    <div className="stack">
      <p className="row wrap">
        <span className="chip">{text.deliveryStatus[status]}</span>
        {nextAttemptAt !== null && (
          <span>
            {text.nextRetry} <Time at={nextAttemptAt} />
          </span>
        )}
        <span className="soft">
          {text.event} {eventId}
        </span>
        <Link to="/webhooks/$id" params={{ id: webhookId }}>
          {text.webhook}
        </Link>
      </p>
      <RequestBody payload={payload} />
      {attemptList.map((attempt) => (
        <Attempt key={attempt.number} attempt={attempt} />
      ))}
    </div>
  );
}

function RequestBody({ payload }: { readonly payload: string }): ReactNode {
  const [isExact, setExact] = useState(false);
  const pretty = prettyJson(payload);
  return (
    <section className="stack">
      <h2>{text.requestBody}</h2>
      <div className="row wrap">
        <span className="soft">{text.size(new Blob([payload]).size)}</span>
        {pretty !== null && (
          <Button aria-pressed={isExact} onClick={() => setExact(!isExact)}>
            {text.exactBytes}
          </Button>
        )}
      </div>
      <Lines name={text.requestBody}>{isExact ? payload : (pretty ?? payload)}</Lines>
    </section>
  );
}

export function DeliveryActions({ delivery }: { readonly delivery: DeliveryDetail }): ReactNode {
  const client = useClient();
  const write = useWrite();
  const navigate = useNavigate();
  const { id, status, webhookId } = delivery;
  const replay = async (): Promise<void> => {
    const made = await write((api) => api.deliveries.replay(id));
    if (!made) return;
    notify(text.replayed, {
      label: text.open,
      run: () => void navigate({ to: '/deliveries/$id', params: { id: made.id } }),
    });
    await queryClient.invalidateQueries({ queryKey: ['deliveries'] });
  };
  const cancel = async (): Promise<void> => {
    await write((api) => api.deliveries.cancel(id), text.canceledDelivery);
    await queryClient.invalidateQueries({ queryKey: ['deliveries'] });
  };
  const copy = async (): Promise<void> => {
    try {
      const { url } = await client.webhooks.get(webhookId);
      await copyText(curlOf(url, delivery));
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <>
      <Button look="primary" onClick={() => void replay()}>
        {text.replay}
      </Button>
      <Button onClick={() => void copy()}>{text.copyCurl}</Button>
      {unfinished.includes(status) && <Button onClick={() => void cancel()}>{text.cancelDelivery}</Button>}
    </>
  );
}

type AttemptOf = DeliveryDetail['attemptList'][number];

function Attempt({ attempt }: { readonly attempt: AttemptOf }): ReactNode {
  const { number, at, latencyMs, statusCode, error, requestHeaders, responseHeaders } = attempt;
  return (
    <section className="card stack">
      <div className="row wrap">
        <h2>{text.attempt(number)}</h2>
        <Time at={at} />
        <span className="chip">{statusCode ?? text.noAnswer}</span>
        <span className="soft">{text.latency(latencyMs)}</span>
        {error !== null && <span>{error}</span>}
      </div>
      <details>
        <summary>{text.requestHeaders}</summary>
        <Lines name={text.requestHeaders}>{linesOf(requestHeaders)}</Lines>
      </details>
      {responseHeaders && (
        <details>
          <summary>{text.responseHeaders}</summary>
          <Lines name={text.responseHeaders}>{linesOf(responseHeaders)}</Lines>
        </details>
      )}
      <Answer attempt={attempt} />
    </section>
  );
}

function Answer({ attempt }: { readonly attempt: AttemptOf }): ReactNode {
  const { responseBody, responseBodyEncoding, truncated } = attempt;
  if (responseBody === null) return null;
  const isText = responseBodyEncoding !== 'base64';
  return (
    <>
      <h3>{text.responseBody}</h3>
      <p className="soft">
        {text.size(isText ? new Blob([responseBody]).size : atob(responseBody).length)}{' '}
        {!isText && text.base64} {truncated && text.truncated}
      </p>
      {responseBody !== '' && <Lines name={text.responseBody}>{responseBody}</Lines>}
    </>
  );
}

/** Text that may scroll. It takes the focus, so that the keyboard can scroll it. */
function Lines({ name, children }: { readonly name: string; readonly children: string }): ReactNode {
  return (
    <pre tabIndex={0} role="region" aria-label={name}>
      {children}
    </pre>
  );
}

const linesOf = (headers: Readonly<Record<string, unknown>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join('\n');
