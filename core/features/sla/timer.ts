// Timer of SLA clocks: marks them as at risk or breached, and cancels those of a deleted policy. The timer
// may fire before the reaction has processed all earlier events, so it first reads the log, and its batch
// fails if an event is missing: an issue that was completed in time is never breached. See
// docs/decisions/0047.
import type { Change, PlannedWrites } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import { pageOfSubject } from '../../kernel/events/log/log.ts';
import { timerOp, type DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { nothing } from '../../kernel/event-reactions/reaction.ts';
import { tenantStatement, type SqlRow } from '../../platform/store/statement.ts';
import { tenantOp, type Op } from '../../platform/store/store.ts';
import { slaPolicy } from '../sla-policies/contract.ts';
import { putOff } from '../teams/index.ts';
import { team } from '../teams/contract.ts';
import { slaClock, slaTimerName } from './contract.ts';
import { canceled, passed, firesAt } from './counting.ts';
import { follow, heeds, heededTypes } from './following.ts';
import { clockModel, teamIdOf, type SlaClock } from './model.ts';

/** Number of events of an issue read at once. */
const pageEvents = 100;
/** Maximum number of clocks of a deleted policy canceled in one batch. */
const canceledAtOnce = 16;

const ofPolicy = tenantStatement<SqlRow>(
  'sla_clocks.of_policy',
  `SELECT ${clockModel.select} FROM sla_clocks INDEXED BY sla_clocks_policy WHERE workspace_id = :ws AND policy_id = :policyId AND ended_at IS NULL LIMIT ${canceledAtOnce}`,
);
/** Fails the batch if the issue has a relevant event that was not processed. */
const heededAll = tenantStatement(
  'sla_clocks.heeded_all',
  `UPDATE sla_clocks SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS
     (SELECT 1 FROM events AS e INDEXED BY events_issue WHERE e.workspace_id = :ws AND e.issue_id = :issueId AND e.sequence > :through AND e.type IN (${heededTypes}))`,
);

export const slaTimer: DueTimer = {
  name: slaTimerName,
  isSetBy: ({ kind }) => kind === slaClock.name || kind === slaPolicy.name || kind === team.name,
  fire: (ctx, id) => (id.startsWith(`${slaPolicy.id}_`) ? leavePolicy(ctx, id) : fireClock(ctx, id)),
};

async function fireClock(ctx: Context, id: string): Promise<PlannedWrites> {
  const clock = await clockModel.find(ctx, id);
  if (!clock || firesAt(clock) === null) return nothing;
  const waits = putOff(ctx, teamIdOf(clock), { name: slaTimerName, id });
  if (waits) return waits;
  const answer = await upTo(ctx, clock, ctx.nowMs());
  // The timer fired too early, because the system clock was set back, so it is set again.
  return answer.changes.length > 0
    ? answer
    : { changes: [], ops: [timerOp(ctx.scope, slaTimerName, id, firesAt(clock))] };
}

/**
 * Processes missed events; if there are none, the passing of time, and then the end of the clock if
 * requested.
 */
async function upTo(
  ctx: Context,
  clock: SlaClock,
  at: number,
  end?: (clock: SlaClock) => Partial<SlaClock>,
): Promise<PlannedWrites & { readonly ops: readonly Op[] }> {
  let through = clock.sequence;
  for (let more = true; more;) {
    const query = { limit: pageEvents, matches: heedsFacts };
    const page = await pageOfSubject(ctx.store, ctx.scope, clock.issueId, through, query);
    for (const event of page.events) {
      const changes = await follow(ctx, event, clock.kind);
      if (changes.length > 0)
        return { changes: changes.map((change) => ({ ...change, cause: event.cause })), ops: [] };
    }
    ({ through, more } = page);
  }
  const changes: Change[] = [];
  let now = clock;
  const step = (patch: Partial<SlaClock>): void => {
    const change = clockModel.update(now, { ...patch, sequence: through }, ctx.nowMs());
    if (change) changes.push(change);
    now = change?.after ?? now;
  };
  for (let next = passed(now, at); next; next = passed(now, at)) step(next);
  if (end) step(end(now));
  const guard = { id: clock.id, issueId: clock.issueId, through };
  return { changes, ops: [tenantOp(ctx.scope, heededAll, guard, { expectRows: 1 })] };
}

const heedsFacts = ({ type }: { readonly type: Parameters<typeof heeds>[0] }): boolean => heeds(type);

/**
 * Cancels some clocks of a deleted policy and sets the timer again while any are left. A clock with missed
 * events processes these first, and is canceled by a later timer.
 */
async function leavePolicy(ctx: Context, policyId: string): Promise<PlannedWrites> {
  const rows = await ctx.store.read(ctx.scope, ofPolicy, { policyId });
  const answers: PlannedWrites[] = [];
  const now = ctx.nowMs();
  for (const row of rows)
    answers.push(await upTo(ctx, clockModel.fromRow(row), now, (clock) => canceled(clock, now)));
  const again = rows.length > 0 ? [timerOp(ctx.scope, slaTimerName, policyId, now)] : [];
  return {
    changes: answers.flatMap(({ changes }) => changes),
    ops: [...answers.flatMap(({ ops = [] }) => ops), ...again],
  };
}
