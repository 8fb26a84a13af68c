// Derives the removal of old rows from the declarations of all tables. Rows of a table are removed after the rows that belong
// to them, and while no row retains them.
import { systemStatement, tenantStatement, type Statement } from '../../platform/store/statement.ts';
import { dependenciesFirst, type Link, type RetentionSetting, type Table } from './define.ts';

type Removal = Statement<{ removed: number }>;

/** Statements that run as one batch until none of them removes anything. Each removes up to `:limit` rows. */
export interface Sweep {
  /** Table of the rows for whose sake the others are removed. */
  readonly table: string;
  /** Setting with the maximum age; null for rows that are removed once they are of no use. */
  readonly days: RetentionSetting | null;
  /** If set, rows are searched one workspace at a time, by ids that begin with their creation time. */
  readonly byId: {
    readonly prefix: string;
    /** Finds the first workspace after `:after` with a row to remove. */
    readonly next: Statement<{ workspace_id: string }>;
  } | null;
  /** Statements that record facts about the removed rows, run before the removals in the same batch. */
  readonly notes: readonly Statement<unknown>[];
  readonly removals: readonly Removal[];
  /** Rows per step. */
  readonly rows: number;
}

const usualRows = 250;
const longRows = 20;

const why = 'expired rows are removed in all workspaces';

/** Returns the sweeps in an order in which one pass removes rows and then their owners. Declares their statements. */
export function sweepsOf(tables: readonly Table[]): readonly Sweep[] {
  const dependents = (table: Table): Table[] =>
    (['owners', 'retains'] as const).flatMap((by) => linkedTo(table, tables, by).map((part) => part.table));
  return dependenciesFirst(tables, dependents).flatMap((table) => {
    const { retention } = table;
    if ('untilDeleted' in retention) return [ofDeletedOwners(table, [retention.untilDeleted].flat())];
    if ('expires' in retention) return [plainSweep(table, null, [`t.${retention.expires} <= :before`])];
    if ('when' in retention) return [plainSweep(table, retention.days, retention.when)];
    if (!('since' in retention)) return [];
    const parts = linkedTo(table, tables, 'owners');
    return [retention.byId ? sweepById(table, parts) : sweepWithParts(table, parts, tables)];
  });
}

interface Part {
  readonly table: Table;
  readonly link: Link;
}

/** Returns the tables whose rows belong to rows of a table or retain them, once for each column that names it. */
const linkedTo = (of: Table, tables: readonly Table[], by: 'owners' | 'retains'): Part[] =>
  tables.flatMap((table) =>
    table[by].filter((link) => link.table === of.name).map((link) => ({ table, link })),
  );

/** Removes rows of all workspaces. @param rows SELECT of their keys */
const removal = (name: string, { name: table, key, isGlobal }: Table, rows: string): Removal =>
  systemStatement(
    name,
    why,
    `DELETE FROM ${table} WHERE (${keyOf(key, isGlobal).join(', ')}) IN (${rows} LIMIT :limit) RETURNING 1 AS removed`,
  );

const keyOf = (key: readonly string[], isGlobal: boolean): readonly string[] =>
  isGlobal ? key : ['workspace_id', ...key];

const keyIn = (alias: string, { key, isGlobal }: Table): string =>
  keyOf(key, isGlobal)
    .map((column) => `${alias}.${column}`)
    .join(', ');

function plainSweep(table: Table, days: RetentionSetting | null, when: readonly string[]): Sweep {
  return {
    ...sweepOf(table, days),
    removals: when.map((condition, at) =>
      removal(
        at === 0 ? `${table.name}.sweep` : `${table.name}.sweep_${at + 1}`,
        table,
        `SELECT ${keyIn('t', table)} FROM ${table.name} AS t WHERE ${condition}`,
      ),
    ),
  };
}

const sweepOf = (table: Table, days: RetentionSetting | null): Omit<Sweep, 'removals'> => ({
  table: table.name,
  days,
  byId: null,
  notes: [],
  rows: table.isLarge ? longRows : usualRows,
});

function ofDeletedOwners(table: Table, owners: readonly string[]): Sweep {
  return {
    ...sweepOf(table, null),
    removals: owners.map((owner, at) => {
      const { by } = table.owners.find((link) => link.table === owner)!;
      return removal(
        at === 0 ? `${table.name}.sweep` : `${table.name}.sweep_${at + 1}`,
        table,
        // The planner keeps the order of a CROSS JOIN: deleted owners are few, and their rows are found by index.
        `SELECT ${keyIn('t', table)} FROM ${owner} AS o CROSS JOIN ${table.name} AS t
           ON t.workspace_id = o.workspace_id AND t.${by} = o.id WHERE o.deleted_at <= :before`,
      );
    }),
  };
}

/** Conditions that no row of a linked table names the row `alias`. */
const withoutRowsOf = (alias: string, links: readonly Part[]): string[] =>
  links.map(
    ({ table, link }) =>
      `NOT EXISTS (SELECT 1 FROM ${table.name} AS x${indexOf(link)} WHERE x.workspace_id = ${alias}.workspace_id AND x.${link.by} = ${alias}.id${also('x', link)})`,
  );

const indexOf = ({ index }: Link): string => (index === undefined ? '' : ` INDEXED BY ${index}`);

const also = (alias: string, { where }: Link): string =>
  where === undefined ? '' : ` AND ${alias}.${where}`;

function sweepWithParts(table: Table, parts: readonly Part[], tables: readonly Table[]): Sweep {
  const { name, columns } = table;
  const { days, since, atOnce, notes } = table.retention as Extract<Table['retention'], { since: string }>;
  const selected = keyIn('t', table) + (columns.includes('created_at') ? ', t.created_at' : '');
  const ended = [`t.${since} <= :before`, ...withoutRowsOf('t', linkedTo(table, tables, 'retains'))].join(
    ' AND ',
  );
  const order = atOnce === undefined ? '' : ` ORDER BY t.${since} LIMIT ${atOnce}`;
  const gone = `SELECT ${selected} FROM ${name} AS t WHERE ${ended}${order}`;
  // Rows that end before their owner are removed by themselves.
  const removed = parts.filter((part) => !('untilDeleted' in part.table.retention));
  const withoutParts = withoutRowsOf('gone', parts);
  const those = withoutParts.length === 0 ? '' : ` WHERE ${withoutParts.join(' AND ')}`;
  return {
    ...sweepOf(table, days),
    notes: notes?.(gone) ?? [],
    removals: [
      ...removed.map((part) => partRemoval(part, { name, gone })),
      removal(`${name}.sweep`, table, `SELECT ${keyIn('gone', table)} FROM (${gone}) AS gone${those}`),
    ],
  };
}

function partRemoval(
  { table, link }: Part,
  owner: { readonly name: string; readonly gone: string },
): Removal {
  const several = table.owners.filter((other) => other.table === link.table).length > 1;
  // Replies are removed before the comment that they belong to.
  const kept = withoutRowsOf('p', linkedTo(table, [table], 'retains'));
  return removal(
    `${table.name}.sweep_of_${owner.name}${several ? `_by_${link.by}` : ''}`,
    table,
    `SELECT ${keyIn('p', table)} FROM (${owner.gone}) AS gone CROSS JOIN ${table.name} AS p${indexOf(link)}
       ON p.workspace_id = gone.workspace_id AND p.${link.by} = gone.id${also('p', link)}${kept.length === 0 ? '' : ` WHERE ${kept.join(' AND ')}`}`,
  );
}

/** `id < :until` bounds the search, because an id begins with its creation time. */
function sweepById(table: Table, parts: readonly Part[]): Sweep {
  const { name } = table;
  const { days, since } = table.retention as Extract<Table['retention'], { since: string }>;
  const ended = `SELECT id FROM ${name} WHERE workspace_id = :ws AND id < :until AND ${since} <= :before ORDER BY id LIMIT :limit`;
  const removalBy = (from: string, column: string): Removal =>
    tenantStatement(
      `${from}.sweep`,
      `DELETE FROM ${from} WHERE workspace_id = :ws AND ${column} IN (${ended}) RETURNING 1 AS removed`,
    );
  return {
    ...sweepOf(table, days),
    byId: {
      prefix: table.idPrefix!,
      next: systemStatement(
        `${name}.sweep_next`,
        why,
        `SELECT w.workspace_id FROM workspaces AS w WHERE w.workspace_id > :after AND EXISTS
           (SELECT 1 FROM ${name} AS t WHERE t.workspace_id = w.workspace_id AND t.id < :until AND t.${since} <= :before)
         ORDER BY w.workspace_id LIMIT 1`,
      ),
    },
    // All statements run in one batch, so that they select the same rows.
    removals: [...parts.map(({ table: part, link }) => removalBy(part.name, link.by)), removalBy(name, 'id')],
  };
}
