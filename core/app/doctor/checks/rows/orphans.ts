import { warning, type Check, type Finding } from '../../check.ts';

/** Internal rows without foreign keys whose parent row may be missing. */
export const orphaned: readonly { readonly what: string; readonly table: string; readonly where: string }[] =
  [
    {
      what: 'work items of missing runs',
      table: 'due_work',
      where:
        "kind = 'run' AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.workspace_id = due_work.workspace_id AND r.id = due_work.id)",
    },
    {
      what: 'work items of missing deliveries',
      table: 'due_work',
      where:
        "kind = 'delivery' AND NOT EXISTS (SELECT 1 FROM deliveries AS d WHERE d.workspace_id = due_work.workspace_id AND d.id = due_work.id)",
    },
    {
      what: 'values of missing plugins',
      table: 'plugin_kv',
      where:
        'NOT EXISTS (SELECT 1 FROM plugins AS p WHERE p.workspace_id = plugin_kv.workspace_id AND p.id = plugin_kv.install_id)',
    },
    {
      what: 'runs of missing plugins',
      table: 'runs',
      where:
        'NOT EXISTS (SELECT 1 FROM plugins AS p WHERE p.workspace_id = runs.workspace_id AND p.id = runs.install_id)',
    },
    {
      what: 'deliveries to missing endpoints',
      table: 'deliveries',
      where:
        'NOT EXISTS (SELECT 1 FROM endpoints AS e WHERE e.workspace_id = deliveries.workspace_id AND e.id = deliveries.endpoint_id)',
    },
    {
      what: 'open runs without a work item',
      table: 'runs',
      where:
        "status IN ('queued', 'running', 'retrying') AND NOT EXISTS (SELECT 1 FROM due_work AS w WHERE w.workspace_id = runs.workspace_id AND w.id = runs.id)",
    },
  ];

export const orphans: Check = {
  name: 'orphans',
  holds: 'no rows are orphaned',
  readsDatabase: true,
  look({ rows }) {
    return orphaned.flatMap(({ what, table, where }): Finding[] => {
      const [row] = rows<{ count: number }>(`SELECT count(*) AS count FROM ${table} WHERE ${where}`);
      return row && row.count > 0 ? [warning(`Orphaned rows: ${row.count} ${what}.`, 'orphans')] : [];
    });
  },
};
