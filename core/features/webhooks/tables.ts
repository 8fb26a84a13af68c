// Tables of webhook endpoints, deliveries and replays.
import { defineTable } from '../../kernel/table/define.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { webhook } from './endpoints/contract.ts';

const sealed = 'encrypted, or a hash of a secret';
const hidden = 'internal state, which no request shows';
const notEndpoints = { not: 'its secrets are encrypted with the key of the server' };
const notWork = { not: 'it is work of the exporting server' };

export const endpointTable = defineTable('endpoints', {
  contract: webhook,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: notEndpoints,
  log: 'own',
  quotes: { none: 'settings' },
  unlogged: {
    url: sealed,
    namespaces_json: hidden,
    since_sequence: hidden,
    secret_sealed: sealed,
    previous_secrets_json: sealed,
    created_by: hidden,
    created_with: hidden,
  },
});

export const endpointHealthTable = defineTable('endpoint_health', {
  owner: { endpoints: 'id' },
  retention: { withOwner: true },
  exported: notEndpoints,
  log: { local: 'work of the server' },
  quotes: { none: 'numbers and times' },
});

export const deliveryTable = defineTable('deliveries', {
  owner: 'workspace',
  retains: { endpoints: 'endpoint_id' },
  idPrefix: idPrefixes.delivery,
  retention: { days: 'deliveries', since: 'finished_at', byId: true },
  exported: notWork,
  log: { local: 'work of the server' },
  quotes: { none: 'payloads are read from the event log' },
}).typed<{
  /** Reason for the delivery: an event, a replay, a ping, or a sample that is not in the log. */
  origin: 'event' | 'replay' | 'ping' | 'sample';
  status: 'pending' | 'retrying' | 'delivered' | 'failed' | 'canceled';
}>();

export const attemptTable = defineTable('attempts', {
  owner: { deliveries: 'delivery_id' },
  retention: { withOwner: true },
  exported: notWork,
  log: { local: 'work of the server' },
  idPrefix: idPrefixes.delivery,
  // A receiver may return what it got.
  quotes: {
    columns: ['response_headers_json', 'response_body'],
    atOnce: 100,
    isPlain: true,
    ofEvents: `delivery_id IN (SELECT id FROM deliveries INDEXED BY deliveries_event WHERE workspace_id = :ws
      AND event_id IN (SELECT value FROM json_each(:events)))`,
    sets: { response_headers_json: 'NULL', response_body: 'NULL' },
  },
});

export const replayTable = defineTable('replays', {
  owner: 'workspace',
  retains: { endpoints: 'endpoint_id' },
  retention: { days: 'deliveries', since: 'finished_at' },
  exported: notWork,
  log: { local: 'work of the server' },
  quotes: { none: 'ids, numbers and times' },
}).typed<{ status: 'running' | 'done' | 'canceled' }>();
