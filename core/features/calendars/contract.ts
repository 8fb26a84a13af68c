import { Type, type Static } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { json, text } from '../../kernel/contract/field.ts';
import { weekdays, type Weekday } from '../../platform/lib/time/business-time.ts';
import { Closed, date } from '../../platform/lib/schema.ts';

const ofDay = Type.Array(
  Closed({
    from: Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'A time such as 09:00.' }),
    to: Type.String({
      pattern: '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$',
      description: 'A time such as 17:00; 24:00 is the end of the day.',
    }),
  }),
  {
    maxItems: 8,
    description: 'Working hours of the day, in order and without overlaps; empty on a free day.',
  },
);
const byDay = Object.fromEntries(weekdays.map((day) => [day, Type.Optional(ofDay)]));
const hours = Type.Unsafe<Partial<Record<Weekday, Static<typeof ofDay>>>>(
  Closed(byDay, { description: 'Map of day of the week → hours; omitted days have no working hours.' }),
);

export const calendar = defineContract({
  name: 'calendar',
  path: 'calendars',
  scope: 'workflows',
  title: 'Calendar',
  id: 'cal',
  names: { by: ['name'] },
  doc: 'Working hours that SLA times are counted in.',
  fields: {
    name: text({ max: 120, required: true, doc: 'Name of the calendar.' }),
    timeZone: text({
      max: 64,
      required: true,
      doc: 'IANA name of the time zone of the hours and days, such as Europe/Berlin.',
    }),
    hours: json(hours, { required: true, doc: 'Working hours.' }),
    holidays: json(Type.Array(date, { maxItems: 1000, uniqueItems: true }), {
      default: [],
      doc: 'Free days, YYYY-MM-DD, on any day of the week.',
    }),
  },
  undo: 'values',
  operations: {
    list: 'List calendars, oldest first',
    create: 'Create a calendar',
    get: 'Get a calendar',
    update: {
      summary: 'Change a calendar',
      description:
        'A running SLA clock keeps its due time; a clock that starts or resumes later uses the change.',
    },
    delete: { summary: 'Delete a calendar that no SLA policy uses', errors: ['conflict'] },
  },
  events: { created: 'calendar.created', updated: 'calendar.updated', deleted: 'calendar.deleted' },
  retainsDeleted: true,
  directory: { as: 'calendars', entryFields: ['name', 'timeZone', 'hours', 'holidays'], withDeleted: true },
  examples: {
    create: {
      name: 'Zagreb office',
      timeZone: 'Europe/Zagreb',
      hours: {
        monday: [
          { from: '09:00', to: '12:00' },
          { from: '13:00', to: '17:00' },
        ],
        friday: [{ from: '09:00', to: '15:00' }],
      },
      holidays: ['2026-12-25'],
    },
    update: { holidays: ['2026-12-25', '2027-01-01'] },
  },
});
