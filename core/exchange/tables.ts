// What a workspace takes along when it moves to another server, and what it leaves behind. Every table that has rows of workspaces stands
// here. docs/operations/export.md.
import { Type } from 'typebox';
import type { Contract } from '../contract/contract.ts';
import { eventTypes } from '../events/catalogue.ts';
import { inboxItem, switchableReasons } from '../inbox/contract.ts';
import { member } from '../identity/members/contract.ts';
import { workspace } from '../identity/workspace/contract.ts';
import { idPrefixes } from '../lib/ids.ts';
import { Closed, idOf, nullable, uuid } from '../lib/schema.ts';
import { attachment } from '../tracker/attachments/contract.ts';
import { board } from '../tracker/boards/contract.ts';
import { calendar } from '../tracker/calendars/contract.ts';
import { comment } from '../tracker/comments/contract.ts';
import { cycle } from '../tracker/cycles/contract.ts';
import { field, fieldsResponse } from '../tracker/fields/contract.ts';
import { issue, priorities } from '../tracker/issues/contract.ts';
import { label } from '../tracker/labels/contract.ts';
import { milestone } from '../tracker/milestones/contract.ts';
import { pipeline } from '../tracker/pipelines/contract.ts';
import { projectUpdate } from '../tracker/project-updates/contract.ts';
import { project } from '../tracker/projects/contract.ts';
import { reaction } from '../tracker/reactions/contract.ts';
import { relation } from '../tracker/relations/contract.ts';
import { release } from '../tracker/releases/contract.ts';
import { slaPolicy } from '../tracker/sla-policies/contract.ts';
import { slaClock } from '../tracker/sla/contract.ts';
import { subscriber } from '../tracker/subscribers/contract.ts';
import { team } from '../tracker/teams/contract.ts';
import { template } from '../tracker/templates/contract.ts';
import { view } from '../tracker/views/contract.ts';
import { state } from '../tracker/workflows/contract.ts';
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
  text,
  type ExchangeCell,
} from './cells.ts';

export interface Table {
  readonly name: string;
  /** The contract of its objects, which says what most of its columns hold. */
  readonly contract?: Contract;
  /** Columns of which neither the contract, a foreign key nor a name that all tables share (`version`, `created_at`) says it. */
  readonly cells?: Readonly<Record<string, ExchangeCell>>;
  /** The column by which its rows refer to others of it, which come first. */
  readonly parent?: string;
  /** Only these of its rows: SQL over its columns. */
  readonly where?: string;
  /** Columns that it takes along; the others are, in SQL, as `arrives` says. */
  readonly columns?: readonly string[];
  readonly arrives?: Readonly<Record<string, string>>;
}

/** Alarms of `due_work` that come along; all other work is of the server. An import that took other kinds would start work. */
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
/** Empty: the event is its own root. */
const causeCell: ExchangeCell = (value) => (value === '' ? null : json(cause)(value));
const memberIds = json(Type.Array(idOf(member.id)));

/** In an order in which each row finds those that it refers to. */
export const taken: readonly Table[] = [
  { name: 'workspaces', contract: workspace },
  // Where reactions stand in the log, so that what was answered is not answered again; ahead of the events.
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
    // Nobody has an account on the new server yet.
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
      fields_json: json(fieldsResponse),
    },
  },
  { name: 'issue_labels' },
  { name: 'former_identifiers', cells: { number: integer(1), issue_id: id(issue.id) } },
  { name: 'cycle_issues', cells: { id: id(issue.id), rolled_to: id(cycle.id) } },
  { name: 'project_issues', cells: { id: id(issue.id) } },
  { name: 'boards', contract: board },
  { name: 'board_cards', cells: { rank: pattern('^[0-9A-Za-z]{1,100}$') } },
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
  {
    name: 'events',
    cells: {
      sequence: integer(1),
      id: id(idPrefixes.event),
      type: oneOf(...eventTypes),
      entity_kind: pattern('^[a-z][a-z_]{0,39}$'),
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

const sealed = 'its secrets are sealed with the key of the server';
const work = 'it is work of the server that is left';
const words = 'texts are indexed anew where they arrive';
const install = 'plugins are installed anew, with the consent of whoever runs the new server';

export const leftBehind: Readonly<Record<string, string>> = {
  api_keys: 'keys are of a server: new ones are made with `tatami keys create`',
  oauth_apps: 'apps are of a server: they are registered anew where they send people to',
  grants: 'apps ask again where the workspace arrives',
  seats: 'accounts are of a server: people are invited again where they arrive',
  invitations: 'a link leads to the server that made it',
  agent_issues: 'agents are let in anew where they arrive',
  oauth_tokens: 'tokens are of the server that gave them out: apps ask for consent anew',
  endpoints: sealed,
  endpoint_health: sealed,
  deliveries: work,
  attempts: work,
  replays: work,
  runs: work,
  run_records: work,
  kept_changes: 'they are undone where they were made: plugins and their runs stay behind',
  plugins: install,
  plugin_code: install,
  plugin_kv: install,
  plugin_secrets: install,
  journal: work,
  plugin_kv_usage: install,
  plugin_gaps: install,
  one_offs: install,
  plugin_routes: install,
  route_signatures: install,
  plugin_versions: install,
  plugin_usage: install,
  plugin_scope_use: install,
  backtests: work,
  shadows: work,
  past_wants: install,
  idempotency: work,
  order_versions: 'they order the writes of the server that is left; ranks and positions come along',
  proposals: sealed,
  purged_issues: work,
  search_documents: words,
  search_pending: words,
  event_files: 'old events come along whole',
  log_cuts: 'the new server has a history of its own',
};
