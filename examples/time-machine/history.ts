import { parse } from 'csv-parse/sync';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the CSV without labels, and returns the labels separately. Duplicate titles are dropped, because issues are
 * found by title.
 */
export function withoutLabels(file: string, dir: string): { unlabelled: string; truth: Map<string, string> } {
  const rows = parse(readFileSync(file, 'utf8'), { columns: true }) as Record<string, string>[];
  const truth = new Map<string, string>();
  const unique = rows.filter(({ title = '', label = '' }) => !truth.has(title) && truth.set(title, label));
  const cells = unique.map(({ repo, created_at, title, body }) => [repo, created_at, '', title, body]);
  const lines = [['repo', 'created_at', 'label', 'title', 'body'], ...cells].map((row) =>
    row.map((cell = '') => `"${cell.replaceAll('"', '""')}"`).join(','),
  );
  const unlabelled = join(dir, 'unlabelled.csv');
  writeFileSync(unlabelled, lines.join('\n'));
  return { unlabelled, truth };
}
