// `tatami webhooks create`: registers an endpoint and shows its signing secret, this once.
import { jsonObject } from '../lib/flags.ts';
import { printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';

export interface CreateWebhookOptions extends RemoteOptions {
  url: string;
  events: string;
  description?: string;
  filter?: string;
  ordering?: string;
}

export async function create(options: CreateWebhookOptions): Promise<void> {
  const { description, ordering } = options;
  const body = {
    url: options.url,
    events: patterns(options.events),
    ...(description === undefined ? {} : { description }),
    ...(options.filter === undefined ? {} : { filter: jsonObject('--filter', options.filter) }),
    ...(ordering === undefined ? {} : { ordering }),
  };
  const made = await connect(options)<{ id: string; url: string; events: string[]; secret: string }>(
    'POST',
    '/webhooks',
    body,
  );
  printResult(
    made,
    options,
    ({ id, url, events, secret }) =>
      `${id}  ${url}  ${events.join(',')}\nSigning secret, shown only once:  ${secret}`,
  );
}

/** `issue.*,comment.added`. */
export function patterns(text: string): string[] {
  return text
    .split(',')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
}
