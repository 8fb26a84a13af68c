// The rows of an issue export: CSV with the columns repo, created_at, label, title, body.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { parse } from 'csv-parse';
import { CommandError } from '../output.ts';

export interface ImportRow {
  readonly line: number;
  readonly teamName: string;
  readonly label: string;
  readonly title: string;
  readonly body: string;
  /** Hash of repo, created_at and title: the same row has the same id in every import. */
  readonly externalId: string;
}

const columns = ['repo', 'created_at', 'label', 'title', 'body'];

/** @throws CommandError when the file or a column is missing */
export async function* readRows(file: string, teamFrom: string): AsyncGenerator<ImportRow> {
  if (!existsSync(file)) throw new CommandError(`${file} does not exist.`);
  const parser = createReadStream(file).pipe(
    parse({ columns: true, bom: true, info: true, relax_column_count: true, skip_empty_lines: true }),
  );
  let checked = false;
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: Record<string, string>;
      info: { lines: number };
    }>) {
      if (!checked) {
        const missing = [...columns, teamFrom].filter((column) => !(column in record));
        if (missing.length > 0)
          throw new CommandError(
            `${file} lacks the column ${missing.join(', ')}; it has ${Object.keys(record).join(', ')}.`,
          );
        checked = true;
      }
      const { repo = '', created_at: createdAt = '', label = '', title = '', body = '' } = record;
      const externalId = createHash('sha256')
        .update(JSON.stringify([repo, createdAt, title]))
        .digest('hex')
        .slice(0, 40);
      yield {
        line: info.lines,
        teamName: record[teamFrom] ?? '',
        label: label.trim(),
        title,
        body,
        externalId,
      };
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} is not CSV: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The last path segment, upper-cased to a team key; null when nothing is left. */
export function teamKeyOf(name: string): string | null {
  const last = name.split('/').at(-1) ?? '';
  const key = last
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^[0-9]+/, '')
    .slice(0, 10);
  return key === '' ? null : key;
}
