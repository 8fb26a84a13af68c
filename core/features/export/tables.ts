// Lists every table with rows of workspaces: the tables that are exported with a workspace, and those that
// are not. docs/operations/export.md.
import { Type } from 'typebox';
import type { Contract } from '../../kernel/contract/contract.ts';
import { eventTypes } from '../../kernel/events/catalogue.ts';
import { inboxItem, switchableReasons } from '../inbox/contract.ts';
import { member, workspace } from '../people/contract.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { rankLengthMax } from '../../platform/lib/rank.ts';
import { Closed, idOf, nullable, uuid } from '../../platform/lib/schema.ts';
import { attachment } from '../attachments/contract.ts';
import { board } from '../boards/contract.ts';
import { calendar } from '../calendars/contract.ts';
import { comment } from '../comments/contract.ts';
import { cycle } from '../cycles/contract.ts';
import { field, fieldsResponse } from '../fields/contract.ts';
import { issue, priorities } from '../issues/contract.ts';
import { label } from '../labels/contract.ts';
import { milestone } from '../milestones/contract.ts';
import { pipeline } from '../pipelines/contract.ts';
import { projectUpdate } from '../project-updates/contract.ts';
import { project } from '../projects/contract.ts';
import { reaction } from '../reactions/contract.ts';
import { relation } from '../relations/contract.ts';
import { release } from '../releases/contract.ts';
import { slaPolicy } from '../sla-policies/contract.ts';
import { slaClock } from '../sla/contract.ts';
import { subscriber } from '../subscribers/contract.ts';
import { team } from '../teams/contract.ts';
import { template } from '../templates/contract.ts';
import { view } from '../views/contract.ts';
import { state } from '../workflows/contract.ts';
import {
  digest,
  flag,
  id,
  integer,
  json,
  moment,
  object,
  oneOf,
  pattern,
  rank,
  text,
  type ExchangeCell,
} from './cells.ts';
import { contracts } from '../contracts.ts';

export interface Table {
  readonly name: string;
  /** Contract of the objects, which defines most columns. */
  readonly contract?: Contract;
  /** Checks of columns that are defined neither by the contract, a foreign key nor a common name (`version`, `created_at`). */
  readonly cells?: Readonly<Record<string, ExchangeCell>>;
  /** Column that refers to another row of the same table; referenced rows are exported first. */
  readonly parent?: string;
  /** SQL condition for the exported rows; default all. */
  readonly where?: string;
  /** Exported columns; an import sets the others to the SQL expressions in `arrives`. */
  readonly columns?: readonly string[];
  readonly arrives?: Readonly<Record<string, string>>;
}

/**
 * Timers of `due_work` that are exported. All other work belongs to the exporting server; an import would
 * start it on the new one.
 */
const timers = ['cycles', 'inbox', 'sla', 'snooze'];
const reactionCursor = '^reaction [a-z][a-z0-9-]*$';

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
const causeCell: ExchangeCell = (value) => (value === '' ? null : json(cause)(value));
const memberIds = json(Type.Array(idOf(member.id)));

/** Tables of objects that need more than their contract says, or that others refer to. */
const listed: readonly Table[] = [
  { name: 'workspaces', contract: workspace },
  // Positions of the reactions in the log, ahead of the events, so that no reaction runs again.
  {
    name: 'cursors',
    where: "consumer LIKE 'reaction %'",
    cells: { consumer: pattern(reactionCursor), sequence: integer() },
  },
  {
    name: 'members',
    contract: member,
    columns: [
      'id',
      'name',
      'email',
      'role',
      'teams_json',
      'version',
      'created_at',
      'updated_at',
      'deleted_at',
    ],
    // Members have no account on the new server yet.
    arrives: { joined_at: 'NULL', email_key: "lower(trim(value->>'email'))" },
    cells: { teams_json: json(Type.Array(uuid)) },
  },
  { name: 'teams', contract: team, cells: { issue_count: integer() } },
  { name: 'states', contract: state },
  { name: 'fields', contract: field },
  { name: 'labels', contract: label },
  { name: 'projects', contract: project, cells: { members_json: memberIds } },
  { name: 'project_updates', contract: projectUpdate },
  { name: 'milestones', contract: milestone },
  { name: 'cycles', contract: cycle },
  {
    name: 'templates',
    contract: template,
    cells: { labels_json: json(Type.Array(idOf(label.id))), fields_json: json(fieldsResponse) },
  },
  { name: 'calendars', contract: calendar },
  { name: 'sla_policies', contract: slaPolicy },
  {
    name: 'issues',
    contract: issue,
    parent: 'parent_id',
    cells: {
      number: integer(1),
      priority: integer(0, priorities.length - 1),
      sub_order: rank(rankLengthMax),
      fields_json: json(fieldsResponse),
    },
  },
  { name: 'issue_labels' },
  { name: 'former_identifiers', cells: { number: integer(1), issue_id: id(issue.id) } },
  { name: 'cycle_issues', cells: { id: id(issue.id), rolled_to: id(cycle.id) } },
  { name: 'project_issues', cells: { id: id(issue.id) } },
  { name: 'boards', contract: board },
  // Plugin runs that move many cards create ranks above `rankLengthMax`.
  { name: 'board_cards', cells: { rank: rank(100) } },
  { name: 'views', contract: view },
  { name: 'attachment_usage', cells: { id: oneOf('files'), bytes: integer() } },
  { name: 'relations', contract: relation },
  {
    name: 'sla_clocks',
    contract: slaClock,
    cells: { counted_from: moment, sequence: integer() },
  },
  { name: 'attachments', contract: attachment, cells: { sha256: digest } },
  {
    name: 'comments',
    contract: comment,
    parent: 'parent_id',
    cells: { mention_ids_json: memberIds },
  },
  { name: 'reactions', contract: reaction, cells: { subject_id: id(issue.id, comment.id) } },
  { name: 'subscribers', contract: subscriber, cells: { muted: flag } },
  { name: 'inbox_items', contract: inboxItem },
  { name: 'inbox_preferences', cells: { off_json: json(Type.Array(Type.Enum([...switchableReasons]))) } },
  { name: 'pipelines', contract: pipeline },
  { name: 'releases', contract: release },
  { name: 'release_issues' },
];

/** Objects of a server, which are not exported with a workspace. */
export const ofServer: readonly string[] = ['api_key', 'oauth_app', 'grant', 'webhook', 'plugin', 'proposal'];

/** Tables of the other resources, which have the path of their contract as name. */
const plain = contracts
  .filter(({ name, operations }) => operations.create !== undefined && !ofServer.includes(name))
  .filter((contract) => !listed.some((table) => table.contract?.name === contract.name))
  .map((contract): Table => ({ name: contract.path, contract }));

/** Exported tables, in an order in which referenced rows come first. */
export const taken: readonly Table[] = [
  ...listed,
  ...plain,
  {
    name: 'events',
    cells: {
      sequence: integer(1),
      id: id(idPrefixes.event),
      type: oneOf(...eventTypes),
      entity_type: pattern('^[a-z][a-z_]{0,39}$'),
      entity_id: text(200),
      issue_id: text(200),
      number: integer(1),
      actor_json: json(Closed(actor)),
      cause_json: causeCell,
      request_id: text(200),
      traceparent: text(200),
      data_json: object,
    },
  },
  {
    name: 'due_work',
    where: `kind IN (${timers.map((timer) => `'${timer}'`).join(', ')})`,
    columns: ['id', 'kind', 'subject', 'due_at'],
    arrives: { lease_until: '0', lease_owner: 'NULL', epoch: '1' },
    cells: {
      id: pattern(`^(${timers.join('|')})/[a-z0-9_-]{1,64}$`),
      kind: oneOf(...timers),
      subject: text(200),
      due_at: integer(),
    },
  },
];

const sealed = 'its secrets are encrypted with the key of the server';
const work = 'it is work of the exporting server';
const words = 'the new server indexes the texts again';
const install = 'plugins are installed again, with consent on the new server';

export const leftBehind: Readonly<Record<string, string>> = {
  api_keys: 'keys belong to a server; create new ones with `tatami keys create`',
  oauth_apps: 'apps belong to a server and are registered again on the new one',
  grants: 'apps ask for consent again on the new server',
  memberships: 'accounts belong to a server; members are invited again on the new one',
  invitations: 'a link opens the server that created it',
  agent_issues: 'agents are authorized again on the new server',
  oauth_tokens: 'tokens belong to the server that issued them; apps ask for consent again',
  endpoints: sealed,
  endpoint_health: sealed,
  deliveries: work,
  attempts: work,
  replays: work,
  runs: work,
  run_records: work,
  stored_changes: 'plugins and their runs are not exported, so there is nothing to undo',
  plugins: install,
  plugin_code: install,
  plugin_kv: install,
  plugin_secrets: install,
  journal: work,
  plugin_kv_usage: install,
  plugin_backfills: install,
  one_time_jobs: install,
  plugin_routes: install,
  route_signatures: install,
  plugin_versions: install,
  plugin_usage: install,
  plugin_scope_use: install,
  backtests: work,
  shadows: work,
  past_subscriptions: install,
  idempotency: work,
  order_versions: 'they order the writes of the exporting server; ranks and positions are exported',
  proposals: sealed,
  purged_issues: work,
  search_documents: words,
  search_pending: words,
  event_files: 'old events are exported with their content',
  log_cuts: 'the new server has its own log generations',
};
