// SLA policies. The objects that a policy names must exist, so that clocks can always be computed. The timer
// cancels the clocks of a deleted policy.
import type { Context, Directory } from '../../kernel/context.ts';
import type { StoredEntity } from '../../kernel/contract/contract.ts';
import { addBusinessMs } from '../../platform/lib/time/business-time.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { timerOp } from '../../kernel/event-reactions/due-timers.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { lastPositionIn } from '../../kernel/resource/sort.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { weekOf } from '../calendars/index.ts';
import { issueFiltering } from '../issues/index.ts';
import { slaTimerName } from '../sla/contract.ts';
import { idOfName } from '../../kernel/resource/names/names.ts';
import { state, stateTypes } from '../workflows/contract.ts';
import { positionMax, slaPolicy } from './contract.ts';
import { defineFeature } from '../../kernel/feature.ts';

type Policy = Omit<StoredEntity<typeof slaPolicy>, 'version'>;

/** Fails the batch if the calendar was deleted in the meantime. */
const requireCalendar = tenantStatement(
  'calendars.require',
  'UPDATE calendars SET version = version WHERE workspace_id = :ws AND id = :calendarId AND deleted_at IS NULL',
);

const policyModel = modelOf(slaPolicy, {
  table: 'sla_policies',
  related(scope, before, { id, calendarId, deletedAt }) {
    const isNew = calendarId !== null && calendarId !== before?.calendarId;
    const isGone = deletedAt !== null && before?.deletedAt === null;
    return {
      first: isNew ? [tenantOp(scope, requireCalendar, { calendarId }, { expectRows: 1 })] : [],
      last: isGone ? [timerOp(scope, slaTimerName, id, deletedAt)] : [],
    };
  },
});

const lastPosition = lastPositionIn({
  kind: slaPolicy.name,
  table: policyModel.table,
  owner: null,
  max: positionMax,
});

const resource = defineResource(slaPolicy, policyModel, {
  sets: async (ctx, { position, pausedIn }) => ({
    position: position ?? (await lastPosition(ctx, ctx.workspaceId)),
    ...(pausedIn && { pausedIn: resolveStates(ctx, pausedIn) }),
  }),
  placedIn: ({ workspaceId }, { position }) => (position === undefined ? workspaceId : null),
  follows: (ctx, { pausedIn }) => (pausedIn ? { pausedIn: resolveStates(ctx, pausedIn) } : {}),
  async check(ctx, policy, before) {
    if (policy.filter !== before?.filter) await issueFiltering.check(ctx, policy.filter, 'filter');
    if (policy.pausedIn !== before?.pausedIn) checkStates(ctx.directory, policy.pausedIn);
    checkMinutes(ctx, policy);
  },
});

const types: readonly string[] = stateTypes;

/**
 * Replaces names of states by ids; several teams may use the same name.
 * @throws ApiError validation_failed
 */
function resolveStates(ctx: Context, pausedIn: readonly string[]): string[] {
  const ids = pausedIn.map((requested, index) =>
    types.includes(requested) ? requested : idOfName(ctx, state, requested, `pausedIn.${index}`),
  );
  return [...new Set(ids)];
}

function checkStates({ states }: Directory, pausedIn: readonly string[]): void {
  for (const [index, requested] of pausedIn.entries())
    if (!types.includes(requested) && states.get(requested)?.removed !== false)
      throw invalidField(`pausedIn.${index}`, 'not_found', {
        why: `There is no workflow state ${requested}.`,
        fix: `Use the id of an existing state, or one of ${types.join(', ')}.`,
      });
}

function checkMinutes(ctx: Context, { targetMinutes, atRiskMinutes, calendarId }: Policy): void {
  if (atRiskMinutes !== null && atRiskMinutes >= targetMinutes)
    throw invalidField('atRiskMinutes', 'too_big', {
      why: 'Issues would be at risk from the beginning.',
      fix: `Give less than targetMinutes, which is ${targetMinutes}.`,
    });
  const calendar = calendarId === null ? undefined : ctx.directory.calendars.get(calendarId);
  if (calendar && addBusinessMs(weekOf(calendar), ctx.nowMs(), targetMinutes * 60_000) === null)
    throw invalidField('targetMinutes', 'too_big', {
      why: `In the working hours of ${calendar.name} this takes more than five years.`,
      fix: 'Use a shorter time or another calendar.',
    });
}

export const slaPolicies = defineFeature({ name: 'sla-policies', resources: [resource] });
