// Exports a workspace from one snapshot of the database; a server may be running.
import { unpack, distanceOf, fileOf, type Parts, type StoredParts } from '../../kernel/events/log/packing.ts';
import { partsIn } from '../../kernel/events/log/log.ts';
import type { Archive } from '../../platform/store/files/archive.ts';
import type { Blobs } from '../../platform/store/files/blobs.ts';
import type { Connection } from '../../platform/store/engine/looking.ts';
import { contentsOf, naming, headOf, type LineCell, type End, type RowLine } from './lines.ts';
import { exportedTables, type ExportedTable } from '../tables.ts';

export interface Exported {
  readonly id: string;
  readonly name: string;
}

/** Lists the workspaces of a database, oldest first. */
export function workspacesIn(db: Connection): Exported[] {
  return db.prepare('SELECT id, name FROM workspaces ORDER BY created_at, id').all() as Exported[];
}

/** Locations of data outside the database. */
export interface RowExtras {
  readonly archive: Archive;
  readonly pathOf: Blobs['pathOf'];
}

/** Yields the lines without line feeds. @returns the number of rows @throws ApiError if the content of an attachment is missing or damaged */
export async function* linesOf(
  db: Connection,
  { archive, pathOf }: RowExtras,
  workspace: Exported,
): AsyncGenerator<string, number> {
  const [version] = db.prepare('PRAGMA user_version').all() as { user_version: number }[];
  yield JSON.stringify(headOf(version!.user_version, { id: workspace.id, name: workspace.name }));
  let rows = 0;
  for (const table of exportedTables) {
    if (table.name === naming)
      for await (const piece of contentsOf(db, pathOf, workspace.id)) yield JSON.stringify(piece);
    for await (const row of rowsOf(db, archive, table, workspace.id)) {
      rows++;
      yield JSON.stringify({ table: table.name, row } satisfies RowLine);
    }
  }
  yield JSON.stringify({ end: true, rows } satisfies End);
  return rows;
}

type ExportRow = Record<string, string | number | null | Uint8Array | ArrayBuffer>;

async function* rowsOf(
  db: Connection,
  archive: Archive,
  table: ExportedTable,
  workspaceId: string,
): AsyncGenerator<RowLine['row']> {
  const columns = table.exported.columns ?? columnsOf(db, table.name);
  // A database of an earlier schema lacks the tables of later migrations.
  if (columns.length === 0) return;
  const partsOf = table.name === 'events' ? partsFrom(db, archive, workspaceId) : null;
  for (const row of db.prepare(selectOf(db, table, columns)).iterate([workspaceId]) as Iterable<ExportRow>) {
    if (!partsOf) yield cellsOf(row, columns);
    else {
      const { packed: _, ...rest } = row;
      const { cause, data } = await partsOf(row as ExportRow & StoredParts & { sequence: number });
      const whole = { ...rest, cause_json: cause, data_json: data };
      yield cellsOf(
        whole,
        columns.filter((column) => column !== 'packed'),
      );
    }
  }
}

function columnsOf(db: Connection, table: string): string[] {
  const rows = db.prepare('SELECT name FROM pragma_table_info(?1) ORDER BY cid').all([table]);
  return (rows as { name: string }[]).map(({ name }) => name).filter((name) => name !== 'workspace_id');
}

function keyOf(db: Connection, table: string): string {
  const rows = db.prepare('SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk').all([table]);
  return (rows as { name: string }[]).map(({ name }) => `t.${name}`).join(', ');
}

/** Orders rows by key; in a table with parents, by depth first. */
function selectOf(db: Connection, table: ExportedTable, columns: readonly string[]): string {
  const { name, parent, exported } = table;
  const list = columns.map((column) => `t.${column}`).join(', ');
  const those = exported.where === undefined ? '' : ` AND ${exported.where}`;
  if (parent === undefined)
    return `SELECT ${list} FROM ${name} AS t WHERE t.workspace_id = ?1${those} ORDER BY ${keyOf(db, name)}`;
  return `WITH RECURSIVE placed (id, depth) AS (
      SELECT id, 0 FROM ${name} WHERE workspace_id = ?1 AND ${parent} IS NULL
      UNION ALL SELECT c.id, placed.depth + 1 FROM placed JOIN ${name} AS c ON c.workspace_id = ?1 AND c.${parent} = placed.id)
    SELECT ${list} FROM placed JOIN ${name} AS t ON t.workspace_id = ?1 AND t.id = placed.id ORDER BY placed.depth, t.id`;
}

function cellsOf(row: ExportRow, columns: readonly string[]): RowLine['row'] {
  return Object.fromEntries(columns.map((column) => [column, cellOf(row[column] ?? null)]));
}

function cellOf(value: ExportRow[string]): LineCell {
  if (value instanceof Uint8Array) return { hex: Buffer.from(value).toString('hex') };
  if (value instanceof ArrayBuffer) return { hex: Buffer.from(new Uint8Array(value)).toString('hex') };
  return value;
}

/** Returns a function that reads the parts of an event from its row, an earlier event or an archive file. */
function partsFrom(db: Connection, archive: Archive, workspaceId: string) {
  const stored = db.prepare(
    'SELECT sequence, cause_json, data_json, packed FROM events WHERE workspace_id = ?1 AND sequence = ?2',
  );
  const files = db.prepare(
    'SELECT first_sequence AS first, last_sequence AS last, sha256 FROM event_files WHERE workspace_id = ?1 AND first_sequence = ?2',
  );
  const partsOf = async (event: StoredParts & { sequence: number }): Promise<Parts> => {
    const { sequence } = event;
    const distance = distanceOf(event);
    if (distance > 0)
      return partsOf(stored.get([workspaceId, sequence - distance]) as StoredParts & { sequence: number });
    const first = fileOf(event);
    if (first === null) return unpack(event);
    const file = files.get([workspaceId, first]) as { first: number; last: number; sha256: string };
    return partsIn((await archive.read(workspaceId, file)).get(sequence)!);
  };
  return partsOf;
}
