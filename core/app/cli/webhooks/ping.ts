// `tatami webhooks ping WHE`: one event of type webhook.ping to one endpoint, whatever it subscribes to.
import type { RemoteOptions } from '../lib/remote.ts';
import { deliverAndPrint } from './delivery.ts';

export function ping(webhook: string, options: RemoteOptions): Promise<void> {
  return deliverAndPrint(
    options,
    `/webhooks/${encodeURIComponent(webhook)}/ping`,
    undefined,
    ({ id, eventId }) => `pinged as ${id} (${eventId})`,
  );
}
