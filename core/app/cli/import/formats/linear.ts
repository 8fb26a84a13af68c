// The CSV that Linear exports in its settings. The team has the key that its issues are called by there. docs/operations/import.md
// lists the columns that are read.
import { readRecords, type CsvRecord } from './csv.ts';
import {
  dayIn,
  estimateIn,
  listed,
  numberIn,
  optional,
  pastTimeIn,
  priorityIn,
  readAs,
  timeIn,
  type ImportedCycle,
  type Format,
  type ImportedLink,
} from './row.ts';

const linkColumns: readonly (readonly [column: string, type: ImportedLink['type']])[] = [
  ['Parent issue', 'child_of'],
  ['Related to', 'relates_to'],
  ['Blocks', 'blocks'],
  ['Blocked by', 'blocked_by'],
  ['Duplicate of', 'duplicate_of'],
];

export const linear: Format = {
  source: 'linear',
  async *read(file, { teamFrom }, told) {
    const needed = ['ID', 'Title', 'Status', teamFrom ?? 'Team'];
    for await (const record of readRecords(file, needed, told)) {
      const { at, one } = record;
      const id = one('ID').trim();
      const teamKey = teamFrom === undefined ? /^([A-Z][A-Z0-9]*)-\d+$/.exec(id)?.[1] : undefined;
      if (id === '') {
        told.bad(at, 'the ID is missing; fill in the column ID');
        continue;
      }
      const project = one('Project').trim();
      const milestone = one('Project Milestone').trim();
      yield {
        at,
        teamName: one(teamFrom ?? 'Team'),
        ...optional('teamKey', teamKey),
        ...optional('number', teamKey === undefined ? undefined : numberIn(id)),
        labels: listed(one('Labels')),
        title: one('Title'),
        body: one('Description'),
        ...timeIn(timeText(one('Created'))),
        ...readAs('startedAt', timeText(one('Started')), pastTimeIn, told),
        ...readAs('endedAt', timeText(endOf(record)), pastTimeIn, told),
        externalId: id,
        ...readAs('priority', one('Priority'), priorityIn, told),
        status: one('Status').trim(),
        assignee: one('Assignee').trim(),
        creator: one('Creator').trim(),
        ...readAs('estimate', one('Estimate'), estimateIn, told),
        ...readAs('dueDate', one('Due Date'), dayIn, told),
        ...optional('project', project || undefined),
        ...optional('milestone', milestone === '' ? undefined : { name: milestone }),
        cycles: cycleOf(record),
        links: linkColumns.flatMap(([column, type]) => listed(one(column)).map((to) => ({ type, to }))),
        comments: [],
      };
    }
  },
};

function endOf({ one }: CsvRecord): string {
  const [completed, canceled] = [one('Completed'), one('Canceled')];
  return completed || canceled;
}

/** Linear calls a cycle that nobody named by its number. */
function cycleOf({ one }: CsvRecord): ImportedCycle[] {
  const number = one('Cycle Number').trim();
  const name = one('Cycle Name').trim() || (number && `Cycle ${number}`);
  const [startsAt, endsAt] = [timeOf(one('Cycle Start')), timeOf(one('Cycle End'))];
  return name === '' ? [] : [{ name, ...optional('startsAt', startsAt), ...optional('endsAt', endsAt) }];
}

function timeOf(text: string): string | undefined {
  const time = Date.parse(timeText(text.trim()));
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** Parses a time such as `Tue Nov 21 2023 10:00:00 GMT+0000 (GMT)`, or ISO 8601. */
function timeText(text: string): string {
  const words = /^\w{3} \w{3} \d{2} \d{4} [\d:]{8} GMT[+-]\d{4}/.exec(text)?.[0];
  return words === undefined ? text : new Date(Date.parse(words)).toISOString();
}
