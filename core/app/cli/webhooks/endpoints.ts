// `tatami webhooks list|create|rotate`.
import { printResult } from '../lib/output.ts';
import { connect, readAll, type RemoteOptions } from '../lib/remote.ts';
import { jsonObject, wholeNumber } from '../lib/flags.ts';

interface Endpoint {
  id: string;
  url: string;
  description: string;
  events: string[];
  ordering: string;
  enabled: boolean;
  disabledReason: string | null;
}

export async function listWebhooks(options: RemoteOptions): Promise<void> {
  const endpoints = await readAll<Endpoint>(connect(options), '/webhooks');
  printResult(endpoints, options, (shown) =>
    shown.length === 0
      ? 'No webhooks are registered. Register one with `tatami webhooks create`.'
      : shown.map(endpointLine).join('\n'),
  );
}

function endpointLine({ id, url, description, events, ordering, enabled, disabledReason }: Endpoint): string {
  const parts = [
    id,
    enabled ? 'on ' : 'off',
    url,
    events.join(','),
    ordering === 'entity' && 'in order',
    description,
    !enabled && disabledReason,
  ];
  return parts.filter(Boolean).join('  ');
}

export interface CreateWebhookOptions extends RemoteOptions {
  url: string;
  events: string;
  description?: string;
  filter?: string;
  ordering?: string;
}

export async function createWebhook(options: CreateWebhookOptions): Promise<void> {
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

export interface RotateWebhookOptions extends RemoteOptions {
  overlapHours?: string;
}

/** Creates a signing secret; the previous one also signs for a while. */
export async function rotateWebhookSecret(webhook: string, options: RotateWebhookOptions): Promise<void> {
  const overlap = options.overlapHours;
  const body = overlap === undefined ? {} : { overlapHours: wholeNumber('--overlap-hours', overlap, 0, 168) };
  const rotated = await connect(options)<{
    id: string;
    secret: string;
    previousSecretExpiresAt: string;
  }>('POST', `/webhooks/${encodeURIComponent(webhook)}/rotate`, body);
  printResult(
    rotated,
    options,
    ({ id, secret, previousSecretExpiresAt: until }) =>
      `${id}  ${Number(overlap) === 0 ? 'the previous secret no longer signs' : `the previous secret also signs until ${until}`}\nNew signing secret, shown only once:  ${secret}`,
  );
}
