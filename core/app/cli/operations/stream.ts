// `tatami events stream`: prints each event as one line of JSON, across restarts of the server.
import { streamEvents } from '../../../../sdk/client/stream.ts';
import { printable } from '../../../platform/lib/text/printable.ts';
import { printResult, say } from '../lib/output.ts';
import type { Remote } from '../lib/remote.ts';
import { usage, wholeNumber } from '../lib/flags.ts';
import type { Given } from './perform.ts';
import type { Request } from './send.ts';

export async function follow(
  { options }: Given,
  { query }: Request,
  { server, token }: Remote,
): Promise<void> {
  const { after, generation, types, samples } = query;
  if (generation !== undefined && after === undefined) throw usage('--generation needs --after.');
  const events = streamEvents({
    server,
    token,
    types: typeof types === 'string' ? types.split(',') : ['*'],
    samples: samples === true,
    ...(after === undefined
      ? {}
      : { after: wholeNumber('--after', String(after), 0, Number.MAX_SAFE_INTEGER) }),
    ...(typeof generation === 'string' ? { generation } : {}),
    onWait: (waitMs, { message }) =>
      say(`${printable(message)} Reconnecting in ${Math.max(1, Math.round(waitMs / 1000))} s.`),
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
