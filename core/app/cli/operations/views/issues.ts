// Displays boards, and the changes of many issues.
import { displayValue } from './runs.ts';

interface Cell {
  readonly cards?: readonly { readonly identifier: string; readonly title: string }[];
  readonly pageInfo?: { readonly hasNextPage: boolean };
}

interface Column extends Cell {
  readonly title: string;
  readonly count: number;
  readonly limit: number | null;
  readonly lanes?: readonly (Cell & { readonly key: string })[];
}

interface Board {
  readonly board: { readonly name: string };
  readonly columns: readonly Column[];
  readonly lanes: readonly { readonly key: string; readonly title: string }[] | null;
  readonly elsewhere: number;
}

/** Columns from left to right, each with its first cards. */
export function boardView({ board, columns, lanes, elsewhere }: Board): string {
  const titles = new Map(lanes?.map(({ key, title }) => [key, title]));
  const outside = elsewhere === 0 ? [] : ['', `${elsewhere} in no column`];
  return [board.name, ...columns.flatMap((column) => columnLines(column, titles)), ...outside].join('\n');
}

function columnLines(column: Column, laneTitles: ReadonlyMap<string, string>): string[] {
  const { title, count, limit, lanes } = column;
  const cells = lanes
    ? lanes.flatMap((lane) => [`  ${laneTitles.get(lane.key) ?? lane.key}`, ...cardLines(lane)])
    : cardLines(column);
  return ['', `${title} (${count}${limit === null ? '' : ` of ${limit}`})`, ...cells];
}

function cardLines({ cards = [], pageInfo }: Cell): string[] {
  const lines = cards.map(({ identifier, title }) => `    ${identifier}  ${title}`);
  return pageInfo?.hasNextPage ? [...lines, '    …'] : lines;
}

interface ChangedIssue {
  readonly identifier: string;
  readonly changes: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;
}

/** `ENG-2  state: In Progress → Todo, priority: low → high` */
export function changesView(issues: readonly ChangedIssue[]): string {
  return issues
    .map(({ identifier, changes }) => {
      const parts = Object.entries(changes).map(
        ([field, { from, to }]) => `${field}: ${displayValue(from)} → ${displayValue(to)}`,
      );
      return `${identifier}  ${parts.length === 0 ? 'no change' : parts.join(', ')}`;
    })
    .join('\n');
}
