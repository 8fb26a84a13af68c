// Validates working hours, and rejects the deletion of a calendar that an SLA policy uses.
import { getEntity, removed } from '../../kernel/changes/operations.ts';
import type { Entry } from '../../kernel/contract/contract.ts';
import type { BusinessWeek, Hours } from '../../platform/lib/time/business-time.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { isDay, checkZone } from '../../platform/lib/time/time.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { calendar } from './contract.ts';
import { defineFeature } from '../../kernel/feature.ts';

type CalendarEntry = Entry<typeof calendar>;
type HoursInput = CalendarEntry['hours'];

const policyBy = tenantStatement<{ name: string }>(
  'calendars.policy_by',
  `SELECT name FROM sla_policies WHERE workspace_id = :ws AND calendar_id = :id AND calendar_id IS NOT NULL AND deleted_at IS NULL LIMIT 1`,
);
/** Fails the batch of a deletion if a policy started to use the calendar in the meantime. */
const unused = tenantStatement(
  'calendars.unused',
  `UPDATE calendars SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS
     (SELECT 1 FROM sla_policies AS p WHERE p.workspace_id = :ws AND p.calendar_id = :id AND p.calendar_id IS NOT NULL AND p.deleted_at IS NULL)`,
);

const calendarModel = modelOf(calendar, {
  related: (scope, before, { id, deletedAt }) =>
    before !== null && deletedAt !== null && before.deletedAt === null
      ? { first: [tenantOp(scope, unused, { id }, { expectRows: 1 })] }
      : {},
});

const resource = defineResource(calendar, calendarModel, {
  check(_ctx, { timeZone, hours, holidays }) {
    const noZone = checkZone(timeZone);
    if (noZone !== null) throw invalidField('timeZone', 'not_found', { why: noZone });
    checkHours(hours);
    for (const [index, day] of holidays.entries())
      if (!isDay(day))
        throw invalidField(`holidays.${index}`, 'invalid_format', {
          why: `${day} is not a day of the calendar.`,
          fix: 'Give a day as YYYY-MM-DD.',
        });
  },
  operations: {
    async delete(ctx, id, ifMatch) {
      const current = await getEntity(ctx, calendarModel, id);
      const policy = await ctx.store.readOne(ctx.scope, policyBy, { id });
      if (policy)
        throw new ApiError(
          'conflict',
          `The SLA policy ${policy.name} uses this calendar. Give the policy another calendar first.`,
        );
      return removed(ctx, calendarModel, current, ifMatch);
    },
  },
});

function checkHours(hours: HoursInput): void {
  const days = Object.entries(hours);
  if (!days.some(([, ofDay]) => ofDay.length > 0))
    throw invalidField('hours', 'too_short', {
      why: 'The calendar has no working hours.',
      fix: 'Give the hours of at least one day.',
    });
  for (const [day, ofDay] of days)
    for (const [index, [from, to]] of ofDay.map(minutesOf).entries()) {
      const before = index === 0 ? 0 : minutesOf(ofDay[index - 1]!)[1];
      if (from < before || to <= from)
        throw invalidField(`hours.${day}.${index}`, 'conflict', {
          why: 'These hours end before they begin, or overlap the hours before them.',
          fix: 'List the hours of a day in order and without overlaps; split hours over midnight.',
        });
    }
}

function minutesOf({ from, to }: { from: string; to: string }): Hours {
  const minutes = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  return [minutes(from), minutes(to)];
}

const weeks = new WeakMap<CalendarEntry, BusinessWeek>();

/** Converts a calendar to the form that `business-time.ts` takes. */
export function weekOf(entry: CalendarEntry): BusinessWeek {
  const known = weeks.get(entry);
  if (known) return known;
  const { timeZone, hours, holidays } = entry;
  const week: BusinessWeek = {
    timeZone,
    hours: Object.fromEntries(Object.entries(hours).map(([day, ofDay]) => [day, ofDay.map(minutesOf)])),
    holidays: new Set(holidays),
  };
  weeks.set(entry, week);
  return week;
}

export const calendars = defineFeature({ name: 'calendars', resources: [resource] });
