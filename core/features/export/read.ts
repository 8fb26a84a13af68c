// Imports an exported workspace; rows retain their ids. Reads the file twice: the first pass checks all of it before anything is written.
// The second pass writes batches, each with its position, so that an interrupted import continues where it stopped. No server runs on
// the directory meanwhile.
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { pack } from '../../kernel/events/log/packing.ts';
import { moveCursor, readCursor } from '../../kernel/events/consumers/positions.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed } from '../../platform/lib/schema.ts';
import type { Export } from '../../kernel/table/define.ts';
import type { Blobs } from '../../platform/store/files/blobs.ts';
import { columnsAt, latestSchema, type ColumnFacts } from '../../platform/store/engine/looking.ts';
import { tenantStatement, type Statement } from '../../platform/store/statement.ts';
import { scopeOf, tenantOp, type Scope, type Store } from '../../platform/store/store.ts';
import { BadRows, createChecking, type Checking, type Examine, rowChecks } from './check.ts';
import {
  createContents,
  type Contents,
  formatVersion,
  readHead,
  type BlobLine,
  type End,
  type Head,
  type RowLine,
} from './lines.ts';
import { exportedTables, type ExportedTable } from '../tables.ts';
import { cursorTable } from '../../kernel/tables.ts';

const batchRows = 500;
const batchChars = 2 * 1024 * 1024;
/** Name of the row of `cursors` that counts the imported rows; removed when the import is complete. */
const consumer = 'exchange';

const isThere = tenantStatement<{ id: string }>(
  'exchange.is_there',
  'SELECT id FROM workspaces WHERE workspace_id = :ws AND id = :ws',
);
const finish = cursorTable.remove('finish', ['consumer']);

export type Inserts = ReadonlyMap<string, Statement<unknown>>;

let inserts: Inserts | undefined;

/** Returns the statements that insert rows. */
export function insertStatements(): Inserts {
  const columns = columnsAt(latestSchema);
  inserts ??= new Map(exportedTables.map((table) => [table.name, insertOf(table, columns.get(table.name)!)]));
  return inserts;
}

function insertOf({ name, exported }: ExportedTable, all: readonly ColumnFacts[]): Statement<unknown> {
  const { columns: only, arrives = {} } = exported as Export<string>;
  const columns = all.filter((column) => column.name !== 'workspace_id');
  const values = columns.map((column) => {
    const fixed = arrives[column.name];
    if (fixed !== undefined) return fixed;
    if (only && !only.includes(column.name))
      throw new Error(`Define the imported value of ${name}.${column.name}.`);
    if (column.type === 'BLOB') return `unhex(value->'${column.name}'->>'hex')`;
    const value = `value->>'${column.name}'`;
    // An older export lacks newer columns.
    return column.default === null ? value : `coalesce(${value}, ${column.default})`;
  });
  const names = columns.map((column) => column.name).join(', ');
  return tenantStatement(
    `exchange.insert_${name}`,
    `INSERT INTO ${name} (workspace_id, ${names}) SELECT :ws, ${values.join(', ')} FROM json_each(:rows)`,
    { chained: name === 'events' },
  );
}

export interface TakenIn {
  readonly workspace: Head['workspace'];
  readonly rows: number;
  /** Number of rows that an earlier, interrupted import had written. */
  readonly before: number;
}

export interface TakingIn {
  readonly examine: Examine;
  readonly blobs: Blobs;
  nowMs(): number;
  onRows(done: number): void;
}

/**
 * @param open reads the lines of an exported workspace from the start, without line feeds
 * @throws ApiError if the file is no export, is truncated or invalid, or if the workspace already exists
 */
export async function takeIn(
  store: Store,
  open: () => AsyncIterable<string>,
  { examine, blobs, nowMs, onRows }: TakingIn,
): Promise<TakenIn> {
  const inserts = insertStatements();
  const reading = open()[Symbol.asyncIterator]();
  const first = (await reading.next()).value as string | undefined;
  const head = headIn(first);
  const scope = scopeOf(head.workspace.id);
  const before = (await readCursor.one(store, scope, { consumer }))?.sequence ?? null;
  if (before === null && (await store.readOne(scope, isThere)))
    throw new ApiError(
      'conflict',
      `The workspace ${head.workspace.name} (${head.workspace.id}) already exists here. Import the file into another data directory.`,
    );
  await checkAll(open, first, createChecking(head, inserts, examine, nowMs()));
  const batches = createBatches(store, scope, inserts, before ?? 0);
  const wrongIn = rowChecks(head.schema);
  const rows = await eachRow(parsed(reading), createContents(blobs), async (line, at, { number, fault }) => {
    if (number <= (before ?? 0)) return true;
    // The row is checked again, because the file may have changed since the first pass.
    const wrong = [...wrongIn(line), ...(fault === null ? [] : [fault])];
    if (wrong.length > 0) throw new BadRows([`Line ${at}: ${wrong.join(' ')}`]);
    if (await batches.add(line, at)) onRows(number);
    return true;
  });
  await batches.end();
  const last = await store.commit([finish(scope, { consumer })]);
  if (!last.ok)
    throw new Error(
      `All rows were imported, but the last step failed: ${last.message}. Run the import again.`,
    );
  return { workspace: head.workspace, rows, before: before ?? 0 };
}

interface Line {
  readonly at: number;
  readonly is: RowLine | BlobLine | End;
}

/** @throws ApiError */
async function* parsed(reading: AsyncIterator<string>): AsyncGenerator<Line, undefined> {
  for (let at = 2, isOver = false; ; at++) {
    const { value, done } = await reading.next();
    if (done) return;
    if (isOver)
      throw new ApiError(
        'malformed_request',
        `Line ${at} follows the end of the workspace. A file contains one export: import each from its own file.`,
      );
    const is = parsedLine(value, at);
    isOver = 'end' in is;
    yield { at, is };
  }
}

/** @throws BadRows, and ApiError for a truncated file */
async function checkAll(
  open: () => AsyncIterable<string>,
  first: string | undefined,
  checking: Checking,
): Promise<void> {
  try {
    const reading = open()[Symbol.asyncIterator]();
    if ((await reading.next()).value !== first)
      throw new ApiError('conflict', 'The file changed while it was read. Import it again.');
    await eachRow(parsed(reading), createContents(null), async (line, at, { fault }) =>
      checking.row(line, at, fault),
    );
    checking.end();
  } finally {
    checking.close();
  }
}

interface RowFacts {
  readonly number: number;
  /** Fault of the file content that the row names; null if there is none. */
  readonly fault: string | null;
}

/** @param take returns false to stop @returns the number of rows @throws ApiError */
async function eachRow(
  lines: AsyncGenerator<Line, undefined>,
  contents: Contents,
  take: (row: RowLine, at: number, facts: RowFacts) => Promise<boolean>,
): Promise<number> {
  let rows = 0;
  let line = (await lines.next()).value;
  while (line && !('end' in line.is)) {
    const { at, is } = line;
    if ('blob' in is) {
      line = await takeContent(lines, contents, at, is);
      continue;
    }
    rows++;
    if (!(await take(is, at, { number: rows, fault: contents.faultOf(is) }))) return rows;
    line = (await lines.next()).value;
  }
  const end = line?.is as End | undefined;
  // Throws if another line follows the end line.
  if (end) await lines.next();
  if (!end)
    throw new ApiError(
      'malformed_request',
      `The file ends after ${rows} rows without an end line: it was truncated. Export the workspace again.`,
    );
  if (end.rows === rows) return rows;
  throw new ApiError(
    'malformed_request',
    `The file has ${rows} rows, but its end line says ${end.rows}: lines are missing. Export the workspace again.`,
  );
}

/** @returns the line after those of the content @throws ApiError */
async function takeContent(
  lines: AsyncGenerator<Line, undefined>,
  contents: Contents,
  at: number,
  first: BlobLine,
): Promise<Line | undefined> {
  let next: Line | undefined;
  async function* pieces() {
    yield Buffer.from(first.data, 'base64');
    while ((next = (await lines.next()).value) && 'blob' in next.is && next.is.blob === first.blob)
      yield Buffer.from(next.is.data, 'base64');
  }
  await contents.take(first.blob, pieces(), at);
  return next;
}

/** @throws ApiError */
function headIn(line: string | undefined): Head {
  const head = line === undefined ? undefined : readHead(line);
  if (!head)
    throw new ApiError(
      'malformed_request',
      'This is not an exported workspace: the first line must have a format, a schema, and the UUID and name of the workspace. Export the workspace again.',
    );
  if (head.format > formatVersion || head.schema > latestSchema)
    throw new ApiError(
      'malformed_request',
      'The file was written by a later version of Tatami. Import it with that version.',
    );
  return head;
}

/** @throws ApiError */
function parsedLine(text: string, line: number): Line['is'] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError(
      'malformed_request',
      `Line ${line} is not JSON: the file was changed or truncated. Export the workspace again.`,
    );
  }
  if (lineShapes.some((shape) => Check(shape, value))) return value as Line['is'];
  throw new ApiError(
    'malformed_request',
    `Line ${line} is not a valid line of an exported workspace: the file was changed. Export the workspace again.`,
  );
}

const lineShapes = [
  Closed({ table: Type.String(), row: Type.Object({}) }),
  Closed({ blob: Type.String(), data: Type.String() }),
  Closed({ end: Type.Literal(true), rows: Type.Integer() }),
];

/** Commits rows of one table at a time, in one batch with the number of rows so far. */
function createBatches(store: Store, scope: Scope, inserts: Inserts, before: number) {
  let table = '';
  let first = 0;
  let rows: string[] = [];
  let chars = 0;
  let done = before;

  const end = async (): Promise<void> => {
    if (rows.length === 0) return;
    const insert = inserts.get(table)!;
    const to = done + rows.length;
    const outcome = await store.commit([
      tenantOp(scope, moveCursor, { consumer, from: done, to }, { expectRows: 1 }),
      tenantOp(scope, insert, { rows: `[${rows.join()}]` }),
    ]);
    if (!outcome.ok)
      throw new ApiError(
        'conflict',
        `Rows of ${table} from line ${first} on cannot be stored: ${outcome.message}. Export the workspace again.`,
      );
    done = to;
    rows = [];
    chars = 0;
  };

  return {
    end,
    /** @returns true if a batch was committed */
    async add({ table: name, row }: RowLine, line: number): Promise<boolean> {
      const text = JSON.stringify(name === 'events' ? packed(row) : row);
      const isFull = name !== table || rows.length === batchRows || chars + text.length > batchChars;
      if (isFull) await end();
      if (rows.length === 0) [table, first] = [name, line];
      rows.push(text);
      chars += text.length;
      return isFull;
    },
  };
}

/** Returns the row of an event as the log stores it. */
function packed(row: RowLine['row']): RowLine['row'] {
  const parts = pack({ cause: String(row.cause_json), data: String(row.data_json) });
  const bytes = parts.packed && { hex: Buffer.from(parts.packed).toString('hex') };
  return { ...row, cause_json: parts.cause_json, data_json: parts.data_json, packed: bytes };
}
