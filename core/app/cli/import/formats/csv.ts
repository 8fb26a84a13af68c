// CSV files (RFC 4180, with any line ending and delimiter), and the CSV format of Tatami: the columns repo, created_at and title, and
// optionally label and body. An invalid record is reported with its line, and the next ones are read.
import { createHash } from 'node:crypto';
import { timeIn, type Format, type RowReporter } from './row.ts';
import { createReadStream, closeSync, openSync, readSync } from 'node:fs';
import { CsvError, parse } from 'csv-parse';
import { CommandError, exitCodes } from '../../lib/output.ts';

const needed = ['repo', 'created_at', 'title'];

export const csv: Format = {
  source: 'csv',
  async *read(file, { teamFrom = 'repo' }, told) {
    for await (const { at, one } of readRecords(file, [...new Set([...needed, teamFrom])], told)) {
      const [repo, createdAt, title] = [one('repo'), one('created_at'), one('title')];
      yield {
        at,
        teamName: one(teamFrom),
        labels: [one('label').trim()].filter((label) => label !== ''),
        title,
        body: one('body'),
        ...timeIn(createdAt),
        links: [],
        comments: [],
        externalId: createHash('sha256')
          .update(JSON.stringify([repo, createdAt, title]))
          .digest('hex')
          .slice(0, 40),
      };
    }
  },
};

/** A quote that is never closed would otherwise gather the rest of the file in memory. */
const recordCharsMax = 8 * 1024 * 1024;

export interface CsvRecord {
  /** Line that it begins at, such as `line 3`; the header is line 1. */
  readonly at: string;
  /** The names of all columns, as often as they stand there. */
  readonly columns: readonly string[];
  /** The value of the first column of a name; empty where there is none. */
  one(column: string): string;
  /** The values of all columns of a name. */
  all(column: string): string[];
}

/**
 * @param told of each record that is not a row, and at the end of the columns that say something and that nobody asked for
 * @param file that `survey` found good
 * @throws CommandError when a column is missing, or a record does not end
 */
export async function* readRecords(
  file: string,
  needed: readonly string[],
  { bad, left }: RowReporter,
): AsyncGenerator<CsvRecord> {
  let lastBadLine = 0;
  let header: string[] | undefined;
  const unread = createUnread();
  // The parser takes a CRLF within quotes for two line ends.
  let countedTwice = 0;
  const parser = parse({
    bom: true,
    delimiter: headerOf(headOf(file)).delimiter,
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: recordCharsMax,
    skip_records_with_error: true,
    on_skip(error) {
      if (!error || error.code === 'CSV_MAX_RECORD_SIZE') throw error;
      // One record can be wrong in several places.
      const line = Number(error.lines);
      if (line !== lastBadLine) bad(`line ${line}`, quoteProblem(error.code));
      lastBadLine = line;
    },
  });
  const source = createReadStream(file);
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of source.pipe(parser) as AsyncIterable<Parsed>) {
      if (header === undefined) {
        header = record;
        requireColumns(file, header, needed);
        continue;
      }
      countedTwice += sumOf(record, '\r\n');
      const at = `line ${info.lines - countedTwice - sumOf(record, '\n')}`;
      if (record.length === header.length) {
        unread.add(header, record);
        yield recordOf(header, record, at, unread.asked);
      } else
        bad(
          at,
          `the number of columns differs from the header (${header.length}); quote fields that contain commas`,
        );
    }
  } catch (error) {
    if (error instanceof CsvError)
      throw new CommandError(
        `${file} cannot be read further: a quoted field does not end. Close its quote. ${error.message}`,
        exitCodes.failed,
        { cause: error },
      );
    throw error;
  }
  for (const [column, rows] of unread.counts()) left(`column ${column}`, rows);
}

/** Counts the rows that say something in each column, but for those that were asked for. */
function createUnread() {
  const rows = new Map<string, number>();
  const asked = new Set<string>();
  return {
    asked,
    add(header: readonly string[], record: readonly string[]): void {
      const said = new Set(header.filter((_, index) => record[index]?.trim() !== ''));
      for (const column of said) rows.set(column, (rows.get(column) ?? 0) + 1);
    },
    counts: () => [...rows].filter(([column]) => !asked.has(column)),
  };
}

interface Parsed {
  record: string[];
  info: { lines: number };
}

function recordOf(
  header: readonly string[],
  record: readonly string[],
  at: string,
  asked: Set<string>,
): CsvRecord {
  const all = (column: string): string[] => {
    asked.add(column);
    return header.flatMap((name, index) => (name === column ? [record[index] ?? ''] : []));
  };
  return { at, columns: header, all, one: (column) => all(column)[0] ?? '' };
}

function requireColumns(file: string, header: readonly string[], needed: readonly string[]): void {
  const missing = needed.filter((column) => !header.includes(column));
  if (missing.length > 0)
    throw new CommandError(
      `${file} lacks the column ${missing.join(', ')}. Its columns are ${header.join(', ')}. Add the missing columns, or choose the format with --from.`,
    );
}

function quoteProblem(code: string): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return 'a quoted field does not end before the end of the file; close its quote';
  return 'a field contains a quote; quote the whole field and double the quotes in it';
}

function sumOf(record: readonly string[], part: string): number {
  return record.reduce((sum, value) => sum + value.split(part).length - 1, 0);
}

const headBytes = 64 * 1024;

export function headOf(file: string): string {
  const bytes = Buffer.alloc(headBytes);
  const fd = openSync(file, 'r');
  try {
    return bytes
      .subarray(0, readSync(fd, bytes))
      .toString('utf8')
      .replace(/^\uFEFF/, '');
  } finally {
    closeSync(fd);
  }
}

/** A comma unless the first line has more of another one; spreadsheets write semicolons where the comma is in numbers, and Jira lets people choose. */
const delimiters = [',', ';', '\t', '|'];

/** @param head of a CSV file */
export function headerOf(head: string): { readonly delimiter: string; readonly columns: readonly string[] } {
  const [line = ''] = head.trimStart().split(/\r\n|\n|\r/);
  const unquoted = line.replace(/"[^"]*"/g, '');
  const count = (delimiter: string): number => unquoted.split(delimiter).length;
  const delimiter = delimiters.reduce((best, one) => (count(one) > count(best) ? one : best));
  return { delimiter, columns: line.split(delimiter).map((column) => column.replace(/^"|"$/g, '')) };
}
