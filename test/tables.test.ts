// Declarations of tables: the page of the documentation that lists them, which `UPDATE_DOCS=1 bun test test/tables` writes, and the
// loops over them.
import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sweeps } from '../core/app/housekeeping/housekeeping.ts';
import { exportedTables, tables } from '../core/features/tables.ts';
import type { Table } from '../core/kernel/table/define.ts';

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function ownersOf({ isOfServer, owners, retains }: Table): string {
  const named = owners.map(({ table, by }) => `\`${table}\` (\`${by}\`)`).join(', ');
  const retained = retains.map(({ table, by }) => `retains \`${table}\` (\`${by}\`)`).join(', ');
  return [isOfServer ? 'server' : named || 'workspace', retained].filter((part) => part !== '').join('; ');
}

function retentionOf({ retention }: Table): string {
  if ('since' in retention) return `\`--keep-${retention.days}\` after \`${retention.since}\``;
  if ('expires' in retention) return `at \`${retention.expires}\``;
  if ('withOwner' in retention) return 'with its owner';
  if ('untilDeleted' in retention)
    return `once the row of \`${[retention.untilDeleted].flat().join('` or `')}\` is deleted`;
  if ('when' in retention) return retention.days === null ? 'once unused' : `\`--keep-${retention.days}\``;
  return 'bound' in retention ? `Bounded: ${retention.bound}.` : `Never: ${retention.forever}.`;
}

function exportOf({ exported }: Table): string {
  if ('not' in exported) return `No: ${exported.not}.`;
  return exported.where === undefined ? 'yes' : 'some rows';
}

function quotesOf({ quotes }: Table): string {
  if ('none' in quotes) return `None: ${quotes.none}.`;
  if ('elsewhere' in quotes) return `${quotes.elsewhere}.`;
  if ('stays' in quotes) return `Stay: ${quotes.stays}.`;
  if ('of' in quotes) {
    const from = quotes.sets ? ` from ${columnsOf(Object.keys(quotes.sets))}` : '';
    return `removed${from} with those of \`${quotes.of}\``;
  }
  return quotes.forget || quotes.sets ? `removed from ${columnsOf(quotes.columns)}` : 'the row is removed';
}

const columnsOf = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

test('docs/tables.md lists every table with its owner, retention, export and quotations', () => {
  const text = [
    '# Tables',
    '',
    'Each table of the database, generated from its declaration (`tables.ts` of a feature): what its rows belong to, when they are',
    'removed, whether an exported workspace contains them, and what becomes of their quotations of an issue that is purged. The columns',
    'are described in `core/platform/store/migrations`.',
    '',
    row('Table', 'Belongs to', 'Removed', 'Exported', 'Quotations of purged issues'),
    '|---|---|---|---|---|',
    ...tables
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((table) =>
        row(`\`${table.name}\``, ownersOf(table), retentionOf(table), exportOf(table), quotesOf(table)),
      ),
    '',
  ].join('\n');
  const file = join(import.meta.dir, '../docs/tables.md');
  if (process.env.UPDATE_DOCS) writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('rows of every table with a retention are removed by a sweep', () => {
  const swept = new Set(
    sweeps.flatMap(({ removals }) => removals.map(({ sql }) => /DELETE FROM (\w+)/.exec(sql)![1]!)),
  );
  const promised = tables.filter(({ retention }) => !('bound' in retention) && !('forever' in retention));
  expect(promised.map(({ name }) => name as string).filter((name) => !swept.has(name))).toEqual([]);
});

test('rows are swept before their owners, and exported after them', () => {
  const sweptAt = (name: string): number => sweeps.findIndex(({ table }) => table === name);
  const exportedAt = (name: string): number => exportedTables.findIndex((table) => table.name === name);
  for (const { name, owners, retains, references } of tables) {
    for (const { table } of [...owners, ...retains])
      if (table !== name && sweptAt(name) >= 0 && sweptAt(table) >= 0)
        expect([name, table, sweptAt(name) < sweptAt(table)]).toEqual([name, table, true]);
    for (const to of Object.values(references))
      if (to !== name && exportedAt(name) >= 0 && exportedAt(to) >= 0)
        expect([name, to, exportedAt(name) > exportedAt(to)]).toEqual([name, to, true]);
  }
});
