// Describes damage: pages, and the tables and indexes that they make unreadable. The rest of the database remains readable and correct.
import { isWholeTree, schemaOf } from './pages/btrees.ts';
import type { PageFile } from './pages/page-file.ts';

export interface Damage {
  readonly pages: readonly number[];
  /** Root pages of the unreadable trees. */
  readonly roots: readonly number[];
  /** Names of the unreadable trees. */
  readonly names: readonly string[];
  /** True if the whole database is unreadable: an essential table is damaged, or SQLite cannot open the file. */
  readonly isTotal: boolean;
}

/** Tables that identify the database and the end of its log. */
const essential = ['sqlite_schema', 'migrations', 'log_head', 'installation'];
const pagesListedMax = 10;

export function damageOf(file: PageFile, pages: readonly number[]): Damage {
  const damaged = new Set(pages);
  const schema = isWholeTree(file, 1, damaged) ? schemaOf(file) : null;
  if (!schema) return { pages, roots: [1], names: ['sqlite_schema'], isTotal: true };
  const trees = schema.filter(({ root }) => !isWholeTree(file, root, damaged));
  const names = trees.map(({ name }) => name);
  // SQLite rejects a file that is shorter than its header says.
  const isCut = !file.log && pages.some((page) => page > file.pagesInFile);
  return {
    pages,
    roots: trees.map(({ root }) => root),
    names,
    isTotal: isCut || names.some((name) => essential.includes(name)),
  };
}

/** Message for operators. Contains no stored data. */
export function describeDamage(database: string, { pages, names }: Damage): string {
  const listedPages = pages.slice(0, pagesListedMax).join(', ') + (pages.length > pagesListedMax ? ' …' : '');
  const which = names.length === 0 ? 'no table' : names.join(', ');
  return (
    `${pages.length} damaged ${pages.length === 1 ? 'page' : 'pages'} (${listedPages}) in ${database}, of ${which}: ` +
    'the content differs from what Tatami wrote (a failing disk, or another program wrote to the file).'
  );
}

export const wayBack =
  'Restore a backup with `tatami restore`; `tatami doctor` reports what can be saved. Keep the damaged files until then.';
