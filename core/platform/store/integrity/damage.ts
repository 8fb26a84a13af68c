// Describes damaged pages and the tables and indexes that they make unreadable, and refuses statements that
// would read those. The rest of the database remains readable and correct.
import Database from 'libsql';
import { LRUCache } from 'lru-cache';
import { StoreError } from '../store.ts';
import { isWholeTree, schemaOf } from './btrees.ts';
import type { PageFile } from './page-file.ts';

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

const textsMax = 1_000;

export interface DamageGuard {
  readonly damage: Damage | null;
  note(damage: Damage): void;
  /** @throws StoreError `damaged` */
  check(text: string): void;
}

/**
 * Determines the trees that a statement opens from its program (EXPLAIN), because a query plan shows only the
 * names that the statement uses.
 * @param planner connection used only for EXPLAIN
 */
export function createDamageGuard(planner: Database.Database): DamageGuard {
  const rootsOf = new LRUCache<string, readonly number[]>({ max: textsMax });
  let damage: Damage | null = null;

  const opened = (text: string): readonly number[] => {
    const known = rootsOf.get(text);
    if (known) return known;
    const program = planner.prepare(`EXPLAIN ${text}`).all() as { opcode: string; p2: number }[];
    const roots = program
      .filter(({ opcode }) => /^(OpenRead|OpenWrite|ReopenIdx)$/.test(opcode))
      .map(({ p2 }) => p2);
    rootsOf.set(text, roots);
    return roots;
  };

  return {
    get damage() {
      return damage;
    },
    note: (newDamage) => void (damage = newDamage),
    check(text) {
      if (!damage) return;
      const { roots, isTotal } = damage;
      if (isTotal || opened(text).some((root) => roots.includes(root)))
        throw new StoreError(
          'damaged',
          'The requested data is in a damaged part of the database. Ask your administrator to restore a backup.',
        );
    },
  };
}
