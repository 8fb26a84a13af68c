import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Type, type Static } from 'typebox';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
  limitDefault,
} from '../../../platform/lib/schema.ts';
import { webhook } from '../endpoints/contract.ts';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { cursorOf, type PageParameters } from '../../../kernel/changes/list.ts';
import { getEntity, isoTime } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { namespaceScopes } from '../../../kernel/events/catalogue.ts';
import { firstSequenceSince, lastSequence } from '../../../kernel/events/log/log.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import {
  ApiError,
  invalidField,
  notFound,
  sequenceToCome,
  timeToCome,
} from '../../../platform/lib/errors/errors.ts';
import { readTime } from '../../../platform/lib/time/time.ts';
import { readPage } from '../../../platform/store/page.ts';
import { endpointModel, type Endpoint } from '../endpoints/model.ts';
import { replayTable } from '../tables.ts';
import type { RowOf } from '../../../kernel/table/define.ts';

export type ReplayRow = RowOf<typeof replayTable>;

export const findReplay = replayTable.selectAll('find', ['id']);
const insertReplay = replayTable.insert('insert');
const cancel = replayTable.update('cancel', ['status', 'finished_at'], ['id'], "status = 'running'");

const replayStatuses = ['running', 'done', 'canceled'] as const;
const only = enumeration(
  'ReplayOnly',
  ['all', 'undelivered'],
  'Events to replay; default `all`. `undelivered` omits events that were or will be delivered, and includes events missed while the endpoint was disabled.',
);

export const ReplayCreate = namedSchema(
  'ReplayCreate',
  Closed({
    since: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Only events at or after this time, RFC 3339. Give either `since` or `afterSequence`.',
      }),
    ),
    afterSequence: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Only events after this sequence; 0 replays from the first event.',
      }),
    ),
    until: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Only events before this time, RFC 3339. By default all events until now.',
      }),
    ),
    only: Type.Optional(only),
  }),
);

export const ReplayResponse = namedSchema(
  'Replay',
  Closed({
    id: idOf(idPrefixes.replay),
    webhookId: idOf(webhook.id, 'Id of the endpoint.'),
    since: nullable(described(time, 'Start time of the range; null if none.')),
    until: nullable(described(time, 'End time of the range, exclusive; null if none.')),
    afterSequence: Type.Integer({ description: 'Sequence after which the replay started.' }),
    currentSequence: Type.Integer({ description: 'Sequence of the last processed event.' }),
    lastSequence: Type.Integer({ description: 'Sequence of the last event in the range.' }),
    only,
    status: enumeration('ReplayStatus', replayStatuses, 'Status of the replay.'),
    deliveries: Type.Integer({ description: 'Number of deliveries created so far.' }),
    createdAt: described(time, 'Time of creation.'),
    finishedAt: nullable(
      described(time, 'Time at which the replay was completed or canceled; null while running.'),
    ),
  }),
);

/** @throws ApiError not_found, conflict, insufficient_scope, validation_failed */
export async function createReplay(
  ctx: Context,
  endpointId: string,
  input: Static<typeof ReplayCreate>,
  queue: WorkQueue,
): Promise<ChangeSet> {
  const endpoint = await getEntity(ctx, endpointModel, endpointId);
  requireReadScopes(ctx, endpoint);
  if (!endpoint.enabled) throw new ApiError('conflict', 'The endpoint is disabled. Enable it, then replay.');
  const range = await rangeOf(ctx, input);
  const row: ReplayRow = {
    id: ctx.ids.next(idPrefixes.replay),
    endpoint_id: endpointId,
    since: range.since,
    until: range.until,
    only_undelivered: input.only === 'undelivered' ? 1 : 0,
    status: 'running',
    after_sequence: range.afterSequence,
    current_sequence: range.afterSequence,
    last_sequence: range.lastSequence,
    deliveries: 0,
    created_at: ctx.nowMs(),
    finished_at: null,
  };
  return {
    changes: [],
    ops: [insertReplay(ctx.scope, row), queue.add(ctx.scope, row.endpoint_id, row.id, row.created_at)],
    body: showReplay(row),
    status: 202,
    location: `${ctx.baseUrl}/api/v1/replays/${row.id}`,
  };
}

/** Returns replays, newest first. @throws ApiError not_found, invalid_cursor */
export async function listReplays(ctx: Context, endpointId: string, query: PageParameters) {
  await getEntity(ctx, endpointModel, endpointId);
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'replays',
    select: replayTable.columns.join(', '),
    where: [{ sql: 'endpoint_id = :endpointId', params: { endpointId } }],
    order: [{ sql: 'created_at', direction: 'desc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
    parameters: { endpointId },
  });
  return { data: data.map((row) => showReplay(row as ReplayRow)), pageInfo };
}

/** @throws ApiError not_found */
export async function getReplay(ctx: Context, id: string) {
  return showReplay(await find(ctx, id));
}

/** Stops creating deliveries; existing ones continue. @throws ApiError not_found, conflict */
export async function cancelReplay(ctx: Context, id: string, queue: WorkQueue): Promise<ChangeSet> {
  const row = await find(ctx, id);
  if (row.status !== 'running')
    throw new ApiError('conflict', `This replay is ${row.status}. Only running replays can be canceled.`);
  const now = ctx.nowMs();
  return {
    changes: [],
    ops: [
      cancel(ctx.scope, { id, status: 'canceled', finished_at: now }, { expectRows: 1 }),
      queue.remove(ctx.scope, id),
    ],
    body: showReplay({ ...row, status: 'canceled', finished_at: now }),
  };
}

async function find(ctx: Context, id: string): Promise<ReplayRow> {
  const row = await findReplay.one(ctx.store, ctx.scope, { id });
  if (!row) throw notFound();
  return row;
}

/** Checks the read scopes. A replay requires the same ones as a subscription. */
function requireReadScopes(ctx: Context, endpoint: Endpoint): void {
  const needed = endpoint.namespaces.map((namespace) => namespaceScopes[namespace]!);
  const missing = new Set(needed.filter((scope) => !ctx.scopes.has(scope)));
  if (missing.size > 0)
    throw new ApiError(
      'insufficient_scope',
      `Replaying the events of this endpoint requires ${[...missing].join(', ')}, which the token does not have. Use a token with the scope.`,
    );
}

async function rangeOf(ctx: Context, input: Static<typeof ReplayCreate>) {
  const { since, until } = timesOf(ctx, input);
  const { store, scope } = ctx;
  const end = await lastSequence(store, scope);
  const lastOf = async (time: number | null): Promise<number> =>
    time === null ? end : (await firstSequenceSince(store, scope, time, end)) - 1;
  const afterSequence = input.afterSequence ?? (await lastOf(since));
  if (afterSequence > end) throw sequenceToCome('afterSequence', end);
  return { since, until, afterSequence, lastSequence: Math.max(afterSequence, await lastOf(until)) };
}

/** @throws ApiError validation_failed */
function timesOf(ctx: Context, input: Static<typeof ReplayCreate>) {
  if ((input.since === undefined) === (input.afterSequence === undefined))
    throw invalidField(
      'since',
      input.since === undefined ? 'required' : 'conflict',
      'Send either since (a time) or afterSequence.',
    );
  const since = input.since === undefined ? null : readTime(input.since, 'since');
  const until = input.until === undefined ? null : readTime(input.until, 'until');
  if (since !== null && until !== null && until < since)
    throw invalidField('until', 'too_small', 'Send a time after since.');
  if (since !== null && since > ctx.nowMs()) throw timeToCome('since', String(input.since));
  return { since, until };
}

function showReplay(row: ReplayRow) {
  return {
    id: row.id,
    webhookId: row.endpoint_id,
    since: isoTime(row.since),
    until: isoTime(row.until),
    afterSequence: row.after_sequence,
    currentSequence: row.current_sequence,
    lastSequence: row.last_sequence,
    only: row.only_undelivered === 1 ? 'undelivered' : 'all',
    status: row.status,
    deliveries: row.deliveries,
    createdAt: isoTime(row.created_at),
    finishedAt: isoTime(row.finished_at),
  };
}
