// Revisions of an automation, read from its events, and the restoration of one.
import { Type, type TSchema } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity, isoTime } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { ActorResponse } from '../../kernel/events/feed/schema.ts';
import { eventsAt } from '../../kernel/events/log/log.ts';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed, described, idOf, namedSchema, nullable, time } from '../../platform/lib/schema.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { automation } from './contract.ts';
import { automationModel } from './model.ts';
import { updateAutomation } from './operations.ts';
import type { RuleRuntime } from './runtime.ts';
import type { RuleParts } from './shape.ts';

/** Limit of events that are read, newest first. */
const eventsMax = 500;

const eventsOf = tenantStatement<{ sequence: number }>(
  'automations.events_of',
  `SELECT sequence FROM events INDEXED BY events_object WHERE workspace_id = :ws AND issue_id IS NULL
     AND entity_type = 'automation' AND entity_id = :id ORDER BY sequence DESC LIMIT ${eventsMax}`,
);

const { trigger, conditions, issues, actions } = automation.fields;
const Revision = namedSchema(
  'AutomationRevision',
  Closed({
    revision: Type.Integer({ minimum: 1, description: 'Number of the revision.' }),
    at: described(time, 'Time at which the revision began.'),
    by: described(ActorResponse, 'Author of the revision.'),
    trigger: trigger.response,
    conditions: conditions.response,
    issues: nullable(issues.response),
    actions: actions.response,
  }),
);
const RevisionList = Closed({
  data: Type.Array(Revision, { description: 'Revisions, newest first.' }),
});
const Restore = Closed({
  revision: Type.Integer({ minimum: 1, description: 'Number of the revision to restore.' }),
});

type Facts = RuleParts & { readonly revision: number };

/** @throws ApiError not_found */
async function listRevisions(ctx: Context, id: string) {
  await getEntity(ctx, automationModel, id);
  const rows = await ctx.store.read(ctx.scope, eventsOf, { id });
  const events = await eventsAt(
    ctx.store,
    ctx.scope,
    rows.map(({ sequence }) => sequence),
  );
  const oldestFirst = events.toSorted((a, b) => a.sequence - b.sequence);
  const revisions = new Map<number, object>();
  for (const { data, createdAt, actor } of oldestFirst) {
    const { revision, trigger, conditions, issues, actions } = data as object as Facts;
    if (revisions.has(revision)) continue;
    const { kind, id: actorId, name } = actor;
    const by = { kind, id: actorId, name };
    revisions.set(revision, { revision, at: isoTime(createdAt), by, trigger, conditions, issues, actions });
  }
  return { data: [...revisions.values()].toReversed() as (Facts & { readonly at: string })[] };
}

/** Makes the rule of an earlier revision the newest one. @throws ApiError not_found, validation_failed, forbidden */
async function restoreRevision(
  ctx: Context,
  id: string,
  wanted: number,
  ifMatch: number | null,
  runtime: RuleRuntime,
): Promise<ChangeSet> {
  const { data } = await listRevisions(ctx, id);
  const found = data.find(({ revision }) => revision === wanted);
  if (!found)
    throw new ApiError(
      'not_found',
      `The automation has no revision ${wanted}. Use one of ${data.map(({ revision }) => revision).join(', ')}.`,
    );
  const { trigger, conditions, issues, actions } = found;
  const parts = { trigger, conditions, issues, actions } as Parameters<typeof updateAutomation>[2];
  return updateAutomation(ctx, id, parts, ifMatch, runtime);
}

const params = Closed({ id: idOf(automation.id) });

/** @param Answer response schema of a changed automation */
export function revisionRoutes(runtime: RuleRuntime, Answer: TSchema): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/automations/{id}/revisions',
      name: 'automations.revisions',
      summary: 'List the revisions of an automation, newest first',
      scope: 'automations:read',
      limit: 'read',
      params,
      responses: { 200: RevisionList },
      read: (ctx, { params: { id } }) => listRevisions(ctx, id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/automations/{id}/restore',
      name: 'automations.restore',
      summary: 'Restore an earlier revision of an automation',
      description: 'The restored rule becomes a new revision with its own backtest.',
      scope: 'automations:write',
      limit: 'write',
      params,
      body: Restore,
      example: { revision: 1 },
      errors: ['forbidden'],
      responses: { 200: Answer },
      write: (ctx, { params: { id }, body, ifMatch }) =>
        restoreRevision(ctx, id, body.revision, ifMatch, runtime),
    }),
  ];
}
