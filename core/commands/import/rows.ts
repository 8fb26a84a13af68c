// The rows of an issue export: CSV (RFC 4180, with any line ending) with the columns repo, created_at, label, title, body.
// What is not a row is reported with its line; the rest is read on.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { CsvError, parse } from 'csv-parse';
import { systemClock } from '../../lib/clock.ts';
import { CommandError, exitCodes } from '../output.ts';
import { pastTimeOf } from './time.ts';

export interface ImportRow {
  /** Where the row begins in the file, 1 being the header. */
  readonly line: number;
  readonly teamName: string;
  readonly label: string;
  readonly title: string;
  readonly body: string;
  /** When it was made there; null where the file says nothing of it. */
  readonly createdAt: string | null;
  /** What the file says in place of a time that has passed. */
  readonly noTime: string | null;
  /** Hash of repo, created_at and title: the same row has the same id in every import. */
  readonly externalId: string;
}

const columns = ['repo', 'created_at', 'label', 'title', 'body'];
/** A quote that is never closed would otherwise gather the rest of the file in memory. */
const recordCharsMax = 8 * 1024 * 1024;

/**
 * @param bad told of each record that is not a row
 * @param file that `survey` found good
 * @throws CommandError when a column is missing, or a record does not end
 */
export async function* readRows(
  file: string,
  teamFrom: string,
  bad: (line: number, why: string) => void,
): AsyncGenerator<ImportRow> {
  let lastBadLine = 0;
  const parser = parse({
    columns: (header: string[]) => checkHeader(file, header, teamFrom),
    bom: true,
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
      if (line !== lastBadLine) bad(line, quoteProblem(error.code));
      lastBadLine = line;
    },
  });
  const source = createReadStream(file);
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of source.pipe(parser) as AsyncIterable<Parsed>) {
      const values = Object.values(record);
      const line = info.lines - values.reduce((sum, value) => sum + lineBreaks(value), 0);
      if (info.error) bad(line, `it has another number of columns than the header (${info.columns.length})`);
      else yield toRow(record, line, teamFrom);
    }
  } catch (error) {
    if (error instanceof CsvError)
      throw new CommandError(
        `${file} cannot be read on: a quoted field does not end. ${error.message}`,
        exitCodes.failed,
        { cause: error },
      );
    throw error;
  }
}

interface Parsed {
  record: Record<string, string>;
  info: { lines: number; columns: unknown[]; error?: Error };
}

function checkHeader(file: string, header: string[], teamFrom: string): string[] {
  const missing = [...new Set([...columns, teamFrom])].filter((column) => !header.includes(column));
  if (missing.length > 0)
    throw new CommandError(`${file} lacks the column ${missing.join(', ')}; it has ${header.join(', ')}.`);
  return header;
}

function toRow(record: Record<string, string>, line: number, teamFrom: string): ImportRow {
  const { repo = '', created_at: createdAt = '', label = '', title = '', body = '' } = record;
  const externalId = createHash('sha256')
    .update(JSON.stringify([repo, createdAt, title]))
    .digest('hex')
    .slice(0, 40);
  const madeAt = pastTimeOf(createdAt, systemClock.nowMs());
  return {
    line,
    teamName: record[teamFrom] ?? '',
    createdAt: madeAt,
    noTime: madeAt === null && createdAt.trim() !== '' ? createdAt : null,
    label: label.trim(),
    title: withoutNul(title),
    body: withoutNul(body),
    externalId,
  };
}

/** NUL cannot be stored. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '');
}

function quoteProblem(code: string): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quoted field does not end before the file does';
  return 'a quote stands inside a field; quote the whole field and double the quotes in it';
}

function lineBreaks(value: string): number {
  let count = 0;
  for (let at = value.indexOf('\n'); at >= 0; at = value.indexOf('\n', at + 1)) count++;
  return count;
}
