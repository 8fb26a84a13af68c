// `tatami webhooks list`.
import { printResult } from '../lib/output.ts';
import { connect, readAll, type RemoteOptions } from '../lib/remote.ts';

interface Endpoint {
  id: string;
  url: string;
  description: string;
  events: string[];
  ordering: string;
  enabled: boolean;
  disabledReason: string | null;
}

export async function list(options: RemoteOptions): Promise<void> {
  const endpoints = await readAll<Endpoint>(connect(options), '/webhooks');
  printResult(endpoints, options, (shown) =>
    shown.length === 0
      ? 'No webhooks are registered. Register one with `tatami webhooks create`.'
      : shown.map(line).join('\n'),
  );
}

function line({ id, url, description, events, ordering, enabled, disabledReason }: Endpoint): string {
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
