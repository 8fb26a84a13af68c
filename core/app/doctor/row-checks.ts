// Checks of the rows of the database: master key, event log, orphaned rows, overdue work and archived events.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tableOf, tables } from '../../features/tables.ts';
import { createSecretOpener, endpointModel, openAddress } from '../../features/webhooks/index.ts';
import type { Table } from '../../kernel/table/define.ts';
import {
  type Check,
  error,
  type Finding,
  note,
  type RowSubject,
  some,
  warning,
} from '../../kernel/checks.ts';
import { createSealing, type Sealing } from '../../platform/lib/secrets/sealing.ts';
import { createArchive } from '../../platform/store/files/archive.ts';
import { fittingKey, otherFingerprint, otherKey } from '../../platform/store/files/installation.ts';
import { readLogHead } from '../../platform/store/log-head.ts';
import type { SqlRow } from '../../platform/store/statement.ts';
import type { Subject } from './subject.ts';
import type { Schema } from '../../platform/store/generated/schema.ts';

export const key: Check<Subject> = {
  name: 'key',
  holds: 'the master key exists and decrypts the stored secrets',
  readsDatabase: true,
  look({ masterKey, path, rows, nowMs }) {
    if (!existsSync(path.masterKey))
      return [
        error(
          `${path.masterKey} is missing. Restore it from your copy; without it no stored secret can be decrypted.`,
        ),
      ];
    if (!masterKey) return [error(`${path.masterKey} is not 32 bytes in base64. Restore the correct file.`)];
    const [installation] = rows<{ key_fingerprint: string | null }>(
      'SELECT key_fingerprint FROM installation WHERE id = 1',
    );
    const wanted = installation?.key_fingerprint ?? null;
    const fitting = wanted === null ? { key: masterKey } : fittingKey(path.masterKey, masterKey, wanted);
    if (!fitting) return [error(otherKey(path.masterKey, otherFingerprint(masterKey, wanted!)))];
    const sealing = createSealing(fitting.key);
    const endpoints = rows<SqlRow>(
      `SELECT ${endpointModel.select}, workspace_id FROM endpoints WHERE deleted_at IS NULL`,
    );
    const closed = endpoints.filter((row) => !opens(sealing, row, nowMs)).map(({ id }) => String(id));
    if (closed.length === 0) return [];
    const all = closed.length === endpoints.length;
    return [
      error(
        `The secrets of ${some(closed)} cannot be decrypted. ${all ? 'The master key is not the one they were encrypted with. Restore the correct key.' : 'Rotate them with `tatami webhooks rotate`.'}`,
      ),
    ];
  },
};

function opens(sealing: Sealing, row: SqlRow, nowMs: number): boolean {
  const endpoint = endpointModel.fromRow(row);
  try {
    createSecretOpener(sealing)(String(row.workspace_id), endpoint, nowMs);
    openAddress(sealing, String(row.workspace_id), endpoint);
    return true;
  } catch {
    return false;
  }
}

export const log: Check<Subject> = {
  name: 'log',
  holds: 'the event log is complete and matches the log head',
  readsDatabase: true,
  look({ rows, path, servedBy }) {
    const findings: Finding[] = [];
    const incomplete = rows<{ workspace_id: string; events: number; first: number; last: number }>(
      `SELECT workspace_id, count(*) AS events, min(sequence) AS first, max(sequence) AS last FROM events
       GROUP BY workspace_id HAVING last - first + 1 <> events`,
    );
    if (incomplete.length > 0)
      findings.push(
        error(
          `Events are missing from the log of the workspace ${some(incomplete.map(({ workspace_id: id }) => id))}. Restore a backup.`,
        ),
      );

    const [inside] = rows<{ position: number; hash: string }>(
      'SELECT position, hash FROM log_head WHERE id = 1',
    );
    if (!inside)
      return [
        ...findings,
        error('The database has no log head, so it was not created by Tatami. Restore a backup.'),
      ];
    if (!existsSync(path.logHead))
      return [
        ...findings,
        error(`${path.logHead} is missing, so lost writes cannot be detected. Restore a backup.`),
      ];
    const outside = readLogHead(path.logHead);
    // A running server may have written after the database was read.
    const lost =
      servedBy === null &&
      (inside.position < outside.position ||
        (inside.position === outside.position && inside.hash !== outside.hash));
    if (lost)
      findings.push(
        error(
          `Acknowledged writes are lost: the database ends at commit ${inside.position}, but commit ${outside.position} was acknowledged. Restore a backup.`,
          'accept',
        ),
      );
    return findings;
  },
};

interface OrphanedRows {
  readonly what: string;
  readonly table: Table;
  readonly where: string;
}

/** Rows whose counterpart may be missing, because no foreign key holds it. */
export const orphaned: readonly OrphanedRows[] = tables.flatMap((table) => [
  ...table.orphans.map((one) => ({ ...one, table })),
  ...withoutOwner(table),
]);

function withoutOwner(table: Table): OrphanedRows[] {
  const { name, owners, retains, references } = table;
  const links = [...owners, ...retains].filter(({ by, where }) => where === undefined && !(by in references));
  return [...Map.groupBy(links, ({ by }) => by)].map(([by, several]) => {
    const named = several.map((link) => tableOf[link.table]);
    const missing = named.map(
      (owner) =>
        `NOT EXISTS (SELECT 1 FROM ${owner.name} AS o WHERE ${owner.isGlobal ? '' : `o.workspace_id = ${name}.workspace_id AND `}o.id = ${name}.${by})`,
    );
    return {
      what: `${name} of missing ${named.map((owner) => owner.name).join(' or ')}`,
      table,
      where: [`${name}.${by} IS NOT NULL`, ...missing].join(' AND '),
    };
  });
}

export const orphans: Check<Subject> = {
  name: 'orphans',
  holds: 'no rows are orphaned',
  readsDatabase: true,
  look({ rows }) {
    return orphaned.flatMap(({ what, table, where }): Finding[] => {
      const [row] = rows<{ count: number }>(`SELECT count(*) AS count FROM ${table.name} WHERE ${where}`);
      return row && row.count > 0 ? [warning(`Orphaned rows: ${row.count} ${what}.`, 'orphans')] : [];
    });
  },
};

export const derived: Check<RowSubject> = {
  name: 'derived',
  holds: 'values that follow from other rows agree with them',
  readsDatabase: true,
  look({ rows }) {
    return tables
      .flatMap((table) => table.derived)
      .flatMap(({ what, sql, repairedBy }): Finding[] => {
        const [row] = rows<{ count: number }>(`SELECT count(*) AS count ${sql}`);
        if (!row || row.count === 0) return [];
        const message = `${row.count} ${what}.`;
        return [
          repairedBy === undefined ? error(`${message} Restore a backup.`) : warning(message, repairedBy),
        ];
      });
  },
};

/** Due work normally starts within seconds. */
const lateMs = 600_000;
/** Lowest due time of work that waits for other work or for capacity. See core/kernel/events/work/rows.ts. */
const neverMs = 8_640_000_000_000_000;
/**
 * Lag above which a consumer is reported: more than 2,000, because cursors of idle workspaces are stored only
 * every 2,000 events.
 */
const behindMin = 3_000;

export const work: Check<Subject> = {
  name: 'work',
  holds: 'no runs, deliveries or schedules are overdue',
  readsDatabase: true,
  look({ rows, nowMs, servedBy }) {
    const findings: Finding[] = [];
    const late = rows<{ kind: string; count: number; since: number }>(
      `SELECT kind, count(*) AS count, min(due_at) AS since FROM due_work
       WHERE due_at < ${neverMs} AND due_at < ?1 AND lease_until < ?2 GROUP BY kind`,
      nowMs - lateMs,
      nowMs - lateMs,
    );
    for (const { kind, count, since } of late) {
      const message = `${count} work items of type ${kind} are overdue since ${new Date(since).toISOString()}`;
      findings.push(
        servedBy === null
          ? note(`${message}. The server processes them after its start.`)
          : warning(`${message}, and the server does not process them. Check its log and /readyz.`),
      );
    }
    const behind = rows<{ consumer: string; workspace_id: string; events: number }>(
      `SELECT c.consumer, c.workspace_id, (SELECT max(e.sequence) FROM events AS e WHERE e.workspace_id = c.workspace_id) - c.sequence AS events
       FROM cursors AS c WHERE events > ${behindMin}`,
    );
    for (const { consumer, workspace_id: workspaceId, events } of behind)
      findings.push(
        note(
          `The consumer ${consumer} is ${events} events behind in workspace ${workspaceId}. Let the server run until it has caught up.`,
        ),
      );
    const failed =
      rows<{ count: number }>("SELECT count(*) AS count FROM deliveries WHERE status = 'failed'")[0]?.count ??
      0;
    if (failed > 0)
      findings.push(
        note(
          `${failed} deliveries failed permanently. List them with \`tatami deliveries list --status failed\`, and resend one with \`tatami deliveries replay\`.`,
        ),
      );
    const off = rows<{ plugin_id: string; state: string }>(
      "SELECT plugin_id, state FROM plugins WHERE deleted_at IS NULL AND state LIKE 'disabled%'",
    );
    for (const { plugin_id: plugin, state } of off)
      findings.push(
        warning(
          `The plugin ${plugin} was disabled (${state}). Fix the cause (\`tatami plugins logs ${plugin}\`), then run \`tatami plugins enable ${plugin}\`.`,
        ),
      );
    return findings;
  },
};

type FileRow = Pick<Schema['event_files'], 'workspace_id' | 'first_sequence' | 'last_sequence' | 'sha256'>;

export const archive: Check<Subject> = {
  name: 'archive',
  holds: 'all archived event files exist and are undamaged',
  readsDatabase: true,
  async look({ path, rows }) {
    const files = rows<FileRow>(
      'SELECT workspace_id, first_sequence, last_sequence, sha256 FROM event_files',
    );
    const archive = createArchive(join(dirname(path.database), 'archive'), () => undefined);
    const bad: string[] = [];
    for (const { workspace_id: workspaceId, first_sequence: first, last_sequence: last, sha256 } of files)
      try {
        await archive.read(workspaceId, { first, last, sha256 });
      } catch (thrown) {
        bad.push(thrown instanceof Error ? thrown.message : String(thrown));
      }
    return bad.length > 0
      ? [error(`${bad.length} of ${files.length} archived event files are damaged: ${some(bad, 3)}`)]
      : [];
  },
};
