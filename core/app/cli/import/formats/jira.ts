// The CSV that Jira exports of a filter, with all fields. Several values of a field stand in as many columns of one name.
// docs/operations/import.md lists the columns that are read.
import { readRecords, type CsvRecord } from './csv.ts';
import {
  dayIn,
  estimateIn,
  listed,
  ownValue,
  numberIn,
  optional,
  pastTimeIn,
  priorityIn,
  readAs,
  timeIn,
  type ImportedComment,
  type Format,
  type ImportRow,
  type ImportedLink,
  type RelationType,
  type RowReporter,
} from './row.ts';

export const jira: Format = {
  source: 'jira',
  async *read(file, { teamFrom }, told) {
    const needed = ['Issue key', 'Summary', 'Status', ...(teamFrom === undefined ? [] : [teamFrom])];
    for await (const record of readRecords(file, needed, told)) {
      const { at, one } = record;
      const key = one('Issue key').trim();
      const project = /^([A-Z][A-Z0-9_]*)-\d+$/.exec(key)?.[1];
      if (project === undefined) {
        told.bad(at, `"${key}" is not an issue key such as ENG-12; correct the column Issue key`);
        continue;
      }
      // Said by the key.
      one('Project key');
      yield {
        at,
        teamName: teamFrom === undefined ? project : one(teamFrom),
        ...optional('number', teamFrom === undefined ? numberIn(key) : undefined),
        ...contentOf(record, told),
        externalId: key,
        ...optional('alsoId', one('Issue id').trim() || undefined),
        cycles: valuesOf(record, ['Sprint', 'Custom field (Sprint)']).map((name) => ({ name })),
        links: [...parentsOf(record), ...relationsOf(record)],
        comments: valuesOf(record, ['Comment', 'Comments']).map(commentOf),
      };
    }
  },
};

function contentOf(
  record: CsvRecord,
  told: RowReporter,
): Omit<ImportRow, 'at' | 'teamName' | 'externalId' | 'links' | 'comments'> {
  const { one, all } = record;
  return {
    labels: [
      ...new Set([
        ...kindOf(one('Issue Type'), told),
        ...all('Labels').flatMap(listed),
        ...valuesOf(record, labelColumns).flatMap(listed),
      ]),
    ],
    title: one('Summary'),
    body: one('Description'),
    ...timeIn(timeText(one('Created'))),
    ...readAs('endedAt', timeText(one('Resolved')), pastTimeIn, told),
    ...readAs('priority', one('Priority'), priorityIn, told),
    status: one('Status').trim(),
    assignee: one('Assignee').trim(),
    creator: (one('Reporter') || one('Creator')).trim(),
    ...readAs('estimate', pointsOf(record), estimateIn, told),
    ...readAs('dueDate', one('Due date') || one('Due Date'), dayIn, told),
  };
}

/** Components and versions of a Jira project become labels of the team. */
const labelColumns = ['Component/s', 'Components', 'Fix Version/s', 'Fix versions'];

/** Returns the values of all columns with these names. */
const valuesOf = ({ all }: CsvRecord, columns: readonly string[]): string[] =>
  columns.flatMap((column) => all(column).map((value) => value.trim())).filter((value) => value !== '');

const kinds: Readonly<Record<string, string>> = {
  bug: 'bug',
  story: 'feature',
  'new feature': 'feature',
  improvement: 'feature',
};

/** Returns the label for a Jira issue type. */
function kindOf(given: string, { left }: RowReporter): string[] {
  const type = given.trim();
  const label = ownValue(kinds, type.toLowerCase());
  if (label !== undefined) return [label];
  if (type !== '') left(`issue type ${type}`);
  return [];
}

const pointsOf = ({ one }: CsvRecord): string =>
  one('Story Points') || one('Custom field (Story Points)') || one('Custom field (Story point estimate)');

const parentColumns = ['Parent key', 'Parent', 'Parent id', 'Epic Link', 'Custom field (Epic Link)'];

/** Returns at most one parent, because Jira may write the same parent as key, id and epic. */
function parentsOf(record: CsvRecord): ImportedLink[] {
  return valuesOf(record, parentColumns)
    .slice(0, 1)
    .map((to) => ({ type: 'child_of', to }));
}

/** Relation types by the Jira link type, for its outward and its inward columns. */
const linkTypes: Readonly<Record<string, readonly [outward: RelationType, inward: RelationType]>> = {
  blocks: ['blocks', 'blocked_by'],
  duplicate: ['duplicate_of', 'duplicated_by'],
};
const related = ['relates_to', 'relates_to'] as const;

function relationsOf(record: CsvRecord): ImportedLink[] {
  return [...new Set(record.columns)].flatMap((column) => {
    const [, side, name = ''] = /^(Outward|Inward) issue link \((.+)\)$/i.exec(column) ?? [];
    if (side === undefined) return [];
    const [outward, inward] = ownValue(linkTypes, name.toLowerCase()) ?? related;
    const type = side.toLowerCase() === 'outward' ? outward : inward;
    return valuesOf(record, [column])
      .flatMap(listed)
      .map((to) => ({ type, to }));
  });
}

/** Parses a comment such as `21/Nov/23 10:12 AM;Ana;It hangs`. */
function commentOf(text: string): ImportedComment {
  const [, time, author = '', body = ''] = /^([^;\n]{6,40});([^;\n]*);([\s\S]*)$/.exec(text) ?? [];
  const said = time === undefined ? '' : timeText(time);
  return time === undefined || !/^\d/.test(said)
    ? { said: '', body: text }
    : { said: [author.trim(), said].filter(Boolean).join(', '), body };
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** Parses a time such as `21/Nov/23 10:12 AM`, the default format of Jira, or ISO 8601. */
function timeText(text: string): string {
  const [, day, month = '', year, hour, minute, half] =
    /^(\d{1,2})\/(\w{3})\/(\d{2,4}) (\d{1,2}):(\d{2})(?: ([AP]M))?$/i.exec(text.trim()) ?? [];
  const at = months.indexOf(month.toLowerCase());
  if (day === undefined || at < 0) return text;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  const fullYear = Number(year) + (year!.length === 2 ? 2000 : 0);
  return new Date(Date.UTC(fullYear, at, Number(day), hours, Number(minute))).toISOString();
}
