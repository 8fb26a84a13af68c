// Tables of the installation, the event log, and work.
import { idPrefixes } from '../platform/lib/ids.ts';
import { Closed, nullable } from '../platform/lib/schema.ts';
import { Type } from 'typebox';
import { eventTypes } from './events/catalogue.ts';
import { defineTable } from './table/define.ts';
import { id, integer, json, object, oneOf, pattern, text, type Format } from './table/formats.ts';

const oneRow = { bound: 'one row' };
const serverFacts = { none: 'facts of the installation' };
const numbers = { none: 'ids, numbers and times' };
const serverWork = { not: 'it is work of the exporting server' };
const ofServer = { not: 'it belongs to the installation' };

export const migrationTable = defineTable('migrations', {
  owner: 'server',
  retention: { bound: 'one for each version of the schema' },
  exported: ofServer,
  log: { local: 'facts of the installation' },
  quotes: serverFacts,
});

export const logHeadTable = defineTable('log_head', {
  owner: 'server',
  retention: oneRow,
  exported: ofServer,
  log: { local: 'the log itself' },
  quotes: numbers,
});

export const installationTable = defineTable('installation', {
  owner: 'server',
  retention: oneRow,
  exported: ofServer,
  log: { local: 'facts of the installation' },
  quotes: serverFacts,
});

export const wallClockTable = defineTable('wall_clock', {
  owner: 'server',
  retention: { bound: 'one for each type of work' },
  exported: ofServer,
  log: { local: 'work of the server' },
  quotes: numbers,
});

export const logCutTable = defineTable('log_cuts', {
  owner: 'workspace',
  retention: { bound: 'one for each restore' },
  exported: { not: 'the new server has its own log generations' },
  log: { local: 'the log itself' },
  quotes: numbers,
});

const reactionCursor = '^reaction [a-z][a-z0-9-]*$';

export const cursorTable = defineTable('cursors', {
  owner: 'workspace',
  retention: { bound: 'one for each consumer and workspace' },
  // Positions of the reactions in the log are imported ahead of the events, so that no reaction runs again.
  exported: {
    place: 'first',
    where: "consumer LIKE 'reaction %'",
    formats: { consumer: pattern(reactionCursor), sequence: integer() },
  },
  log: { local: 'work of the server' },
  quotes: numbers,
});

const actor = {
  kind: Type.Enum(['user', 'api_key', 'app', 'plugin', 'system']),
  id: Type.String({ maxLength: 100 }),
  name: Type.String({ maxLength: 1000 }),
  memberId: Type.Optional(Type.String({ maxLength: 100 })),
};
const cause = Closed({
  rootEventId: nullable(Type.String()),
  parentRunId: nullable(Type.String()),
  depth: Type.Integer({ minimum: 0 }),
  path: Type.Array(Type.String()),
  onBehalfOf: Type.Optional(Closed(actor)),
});
/** An empty text means that the event is its own root. */
const causeFormat: Format = (value) => (value === '' ? null : json(cause)(value));

export const eventTable = defineTable('events', {
  owner: 'workspace',
  retention: {
    forever:
      'they are the history and the audit log; the content of old events may be moved to files (`events`)',
  },
  exported: {
    place: 'last',
    formats: {
      sequence: integer(1),
      id: id(idPrefixes.event),
      type: oneOf(...eventTypes),
      entity_type: pattern('^[a-z][a-z_]{0,39}$'),
      entity_id: text(200),
      issue_id: text(200),
      number: integer(1),
      actor_json: json(Closed(actor)),
      cause_json: causeFormat,
      request_id: text(200),
      traceparent: text(200),
      data_json: object,
    },
  },
  log: { local: 'the log itself' },
  quotes: { stays: 'history keeps its content' },
});

export const eventFileTable = defineTable('event_files', {
  owner: 'workspace',
  retention: { bound: 'one for a few hundred archived events' },
  exported: { not: 'old events are exported with their content' },
  log: { local: 'the log itself' },
  quotes: { stays: 'history keeps its content' },
});

export const pastSubscriptionTable = defineTable('past_subscriptions', {
  owner: 'workspace',
  retention: { bound: 'each is removed once its consumer has advanced past it' },
  exported: { not: 'plugins are installed again, with consent on the new server' },
  log: { local: 'settings while work needs them' },
  quotes: { none: 'settings' },
});

/**
 * Timers of `due_work` that are exported. All other work belongs to the exporting server; an import would
 * start it on the new one.
 */
const timers = ['cycles', 'inbox', 'sla', 'snooze'];

export const dueWorkTable = defineTable('due_work', {
  owner: 'workspace',
  retention: { bound: 'each is removed with the work that it represents' },
  exported: {
    place: 'last',
    where: `kind IN (${timers.map((timer) => `'${timer}'`).join(', ')})`,
    columns: ['id', 'kind', 'subject', 'due_at'],
    arrives: { lease_until: '0', lease_owner: 'NULL', epoch: '1' },
    formats: {
      id: pattern(`^(${timers.join('|')})/[a-z0-9_-]{1,64}$`),
      kind: oneOf(...timers),
      subject: text(200),
      due_at: integer(),
    },
  },
  log: { local: 'work of the server' },
  quotes: numbers,
  orphans: [
    {
      what: 'work items of missing runs',
      where:
        "kind = 'run' AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.workspace_id = due_work.workspace_id AND r.id = due_work.id)",
    },
    {
      what: 'work items of missing deliveries',
      where:
        "kind = 'delivery' AND NOT EXISTS (SELECT 1 FROM deliveries AS d WHERE d.workspace_id = due_work.workspace_id AND d.id = due_work.id)",
    },
  ],
});

export const idempotencyTable = defineTable('idempotency', {
  owner: 'workspace',
  retention: { expires: 'expires_at' },
  exported: serverWork,
  log: { local: 'responses of one day' },
  quotes: { stays: 'a stored response ends after one day' },
});

export const orderVersionTable = defineTable('order_versions', {
  owner: { issues: 'id', boards: 'id', teams: 'id', projects: 'id', members: 'id', workspaces: 'id' },
  retention: { withOwner: true },
  exported: { not: 'they order the writes of the exporting server; ranks and positions are exported' },
  log: { local: 'order of the writes of the server' },
  quotes: numbers,
});
