// `tatami events stream`: prints each event as one line of JSON, across restarts of the server.
import type { Call } from '../../../../sdk/client/call.ts';
import { streamEvents } from '../../../../sdk/client/stream.ts';
import { printResult } from '../lib/output.ts';
import { tellReconnect, type Remote } from '../lib/remote.ts';
import { commaSeparated, usage, wholeNumber } from '../lib/flags.ts';
import type { Given } from './input.ts';
import type { Request } from './send.ts';

/** @param after sequence or event id @throws CommandError, ApiCallError if there is no such event */
async function sequenceOf(after: unknown, call: Call): Promise<number | undefined> {
  if (after === undefined) return undefined;
  const text = String(after);
  if (!text.startsWith('evt_')) return wholeNumber('--after', text, 0, Number.MAX_SAFE_INTEGER);
  return (await call<{ sequence: number }>('GET', `/events/${encodeURIComponent(text)}`)).sequence;
}

export async function follow(
  { options }: Given,
  { query }: Request,
  { remote: { server, token }, call }: { readonly remote: Remote; readonly call: Call },
): Promise<void> {
  const { generation, types, samples } = query;
  const after = await sequenceOf(query.after, call);
  if (generation !== undefined && after === undefined) throw usage('--generation needs --after.');
  const events = streamEvents({
    server,
    token,
    types: typeof types === 'string' ? commaSeparated(types) : ['*'],
    samples: samples === true,
    ...(after === undefined ? {} : { after }),
    ...(typeof generation === 'string' ? { generation } : {}),
    onWait: tellReconnect,
  });
  for await (const { event } of events) {
    const { id, type } = event;
    printResult(
      event,
      options as { json?: boolean },
      () => `${'sequence' in event ? `${event.sequence}  ` : ''}${type}  ${id}`,
    );
  }
}
