// Checks an exported workspace before any of it is written: each row against its table, and all rows together
// in a scratch database, with its constraints and with rules that span rows. docs/decisions/0077.
import type { TSchema } from 'typebox';
import type { Field } from '../../kernel/contract/field.ts';
import type { Contract } from '../../kernel/contract/contract.ts';
import { actorParts, isReference, storedName } from '../../kernel/contract/schemas.ts';
import { snake } from '../../platform/lib/text/words.ts';
import {
  columnsAt,
  latestSchema,
  type ColumnFacts,
  type Connection,
  openScratch,
} from '../../platform/store/engine/looking.ts';
import {
  day,
  flag,
  id,
  integer,
  json,
  moment,
  oneOf,
  pattern,
  real,
  text,
  type Format,
} from '../../kernel/table/formats.ts';
import type { RowLine, Head } from './lines.ts';
import { exportedTables, type ExportedTable, tableOf, tables } from '../tables.ts';
import { addressKey } from '../../platform/lib/address.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import type { Statement } from '../../platform/store/statement.ts';

/** Maximum number of bad lines that an error lists, each with all its faults. */
const faultyLinesMax = 20;

export class BadRows extends ApiError {
  /** One or more sentences per bad line. */
  readonly lines: readonly string[];
  constructor(lines: readonly string[]) {
    const [first = ''] = lines;
    const more = lines.length > 1 ? ` ${lines.length - 1} more lines are wrong.` : '';
    super(
      'malformed_request',
      `${first}${more} Nothing was written. Export the workspace again, and import that file unchanged.`,
    );
    this.lines = lines;
  }
}

/** Returns further faults in a database of one workspace, one sentence each. */
export type Examine = (db: Connection) => readonly string[];

export interface Checking {
  /** Checks one row. @param fault fault of the file content that the row names @returns false once enough faults are found */
  row(line: RowLine, at: number, fault: string | null): boolean;
  /** Checks all rows together. @throws BadRows */
  end(): void;
  close(): void;
}

export function createChecking(
  head: Head,
  inserts: ReadonlyMap<string, Statement<unknown>>,
  examine: Examine,
  nowMs: number,
): Checking {
  const db = openScratch(tables.filter(({ isOfServer }) => !isOfServer).map(({ name }) => name));
  const wrongIn = rowChecks(head.schema);
  const insert = inserter(db, head, inserts);
  const bad: string[] = [];
  db.exec('BEGIN');
  return {
    row(line, at, fault) {
      const wrong = [...wrongIn(line)];
      if (wrong.length === 0 && fault !== null) wrong.push(fault);
      // After a bad row nothing is inserted, because rows that refer to it would be reported as well.
      if (wrong.length === 0 && bad.length === 0) wrong.push(...insert(line));
      if (wrong.length > 0) bad.push(`Line ${at}: ${wrong.join(' ')}`);
      return bad.length < faultyLinesMax;
    },
    end() {
      if (bad.length === 0) bad.push(...wholeFaults(db, head), ...futureFaults(db, nowMs));
      if (bad.length === 0) bad.push(...examined(db, examine));
      if (bad.length > 0) throw new BadRows(bad);
    },
    close: () => db.close(),
  };
}

function inserter(db: Connection, head: Head, inserts: ReadonlyMap<string, Statement<unknown>>) {
  const columns = columnsAt(latestSchema);
  const prepared = new Map(
    [...inserts].map(([name, { text, params }]) => [name, { statement: db.prepare(text), params }]),
  );
  return ({ table, row }: RowLine): string[] => {
    const parent = exportedTables.find(({ name }) => name === table)?.parent;
    if (parent !== undefined && row[parent] !== null && row[parent] === row.id)
      return [`${table}.${parent} refers to the row itself.`];
    const { statement, params } = prepared.get(table)!;
    const values: Record<string, string> = { ws: head.workspace.id, rows: JSON.stringify([row]) };
    try {
      statement.run(params.map((name) => values[name]!));
      return [];
    } catch (error) {
      const lost = (columns.get(table) ?? []).filter(
        ({ name, refersTo }) => refersTo !== null && name in row && !isThere(db, refersTo, row[name]),
      );
      if (lost.length > 0)
        return lost.map(
          ({ name, refersTo }) => `${table}.${name} refers to a row of ${refersTo} that no earlier line has.`,
        );
      const why = error instanceof Error ? error.message : String(error);
      return [
        /unique/i.test(why)
          ? `${table} already has a row with this key: ${why}.`
          : `The row cannot be stored in ${table}: ${why}.`,
      ];
    }
  };
}

const isThere = (db: Connection, table: string, id: unknown): boolean =>
  id === null || db.prepare(`SELECT 1 FROM ${table} WHERE id = ?1`).all([id]).length > 0;

type FaultRow = Readonly<Record<string, string | number | null>>;

/** Rules that span rows: SQL that selects violations, and the sentence for each. */
const rules: readonly { readonly sql: string; says(row: FaultRow): string }[] = [
  {
    sql: "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM members WHERE role = 'owner' AND deleted_at IS NULL)",
    says: () => 'The workspace has no owner.',
  },
  {
    sql: 'SELECT count(*) AS count, max(sequence) AS last FROM events HAVING count <> coalesce(last, 0)',
    says: ({ count, last }) => `The event log ends at ${last} and has ${count} events: lines are missing.`,
  },
  {
    sql: 'SELECT consumer FROM cursors WHERE sequence > (SELECT coalesce(max(sequence), 0) FROM events)',
    says: ({ consumer }) => `cursors.sequence of ${consumer} is beyond the end of the event log.`,
  },
  {
    sql: `SELECT t.id FROM teams AS t WHERE t.issue_count <
      max((SELECT coalesce(max(number), 0) FROM issues WHERE team_id = t.id),
          (SELECT coalesce(max(number), 0) FROM former_identifiers WHERE team_id = t.id))`,
    says: ({ id }) => `teams.issue_count of ${id} is less than the highest number of its issues.`,
  },
  {
    sql: `SELECT i.id FROM issues AS i JOIN states AS s ON s.id = i.state_id
      WHERE s.team_id <> i.team_id OR (s.deleted_at IS NOT NULL AND i.deleted_at IS NULL)`,
    says: ({ id }) => `issues.state_id of ${id} is not a state of its team.`,
  },
  {
    sql: `SELECT id FROM attachments WHERE CASE kind
      WHEN 'file' THEN sha256 IS NULL OR bytes IS NULL OR content_type IS NULL OR url IS NOT NULL
      ELSE sha256 IS NOT NULL OR bytes IS NOT NULL OR url IS NULL END`,
    says: ({ id }) =>
      `attachments ${id}: a file must have a SHA-256, bytes and a media type; a link must have a URL only.`,
  },
  {
    sql: `SELECT 1 WHERE (SELECT coalesce(sum(bytes), 0) FROM attachment_usage) <>
      (SELECT coalesce(sum(bytes), 0) FROM attachments WHERE deleted_at IS NULL)`,
    says: () => 'attachment_usage.bytes is not the total size of the files of the workspace.',
  },
  {
    sql: `SELECT id FROM due_work WHERE substr(id, 1, length(kind) + 1) <> kind || '/' OR subject <> kind`,
    says: ({ id }) => `due_work ${id}: the kind does not match the id.`,
  },
];

function wholeFaults(db: Connection, { workspace }: Head): string[] {
  const rowsOf = (sql: string) => db.prepare(sql).all() as FaultRow[];
  const [workspaceRow] = rowsOf('SELECT name FROM workspaces');
  return [
    ...(workspaceRow?.name === workspace.name
      ? []
      : ['The workspace name in the first line differs from the one in its row.']),
    ...rules.flatMap(({ sql, says }) => rowsOf(sql).slice(0, faultyLinesMax).map(says)),
    ...addressFaults(
      rowsOf('SELECT id, email FROM members WHERE email IS NOT NULL AND deleted_at IS NULL ORDER BY id'),
    ),
  ];
}

/** Clocks of two servers differ by less than this, even if one has a wrong time zone. */
const aheadMaxMs = 2 * dayMs;

/** Rejects events of the future, because schedules, expiry and `doctor` compare the clock with the newest event. */
function futureFaults(db: Connection, nowMs: number): string[] {
  const rows = db
    .prepare('SELECT sequence, created_at FROM events WHERE created_at > ?1 ORDER BY sequence LIMIT ?2')
    .all([nowMs + aheadMaxMs, faultyLinesMax]) as FaultRow[];
  return rows.map(
    ({ sequence, created_at }) =>
      `events.created_at of event ${sequence} is ${created_at}: it must not be in the future. If the time is right, correct the clock of this machine (timedatectl set-ntp true).`,
  );
}

/** Rejects different spellings of one address, because two members would share one mailbox. */
function addressFaults(members: readonly FaultRow[]): string[] {
  const first = new Map<string, string>();
  return members.flatMap(({ id, email }) => {
    const key = addressKey(String(email));
    if (key === null || String(email).normalize('NFKC') !== email)
      return [
        `members.email of ${id} is not in normal form. On the exporting server, write it without invisible characters, composed, and in letters of one script.`,
      ];
    const other = first.get(key);
    first.set(key, other ?? String(id));
    return other === undefined
      ? []
      : [`members.email of ${id} is another spelling of the address of ${other}.`];
  });
}

function examined(db: Connection, examine: Examine): readonly string[] {
  try {
    return examine(db);
  } catch (error) {
    return [`Not everything could be read: ${error instanceof Error ? error.message : String(error)}.`];
  }
}

/** Returns the faults of a row, one sentence each; empty for a valid row. */
type CheckRow = (line: RowLine) => readonly string[];

/** @param schema schema version of the file; its rows must have exactly the columns of that version */
export function rowChecks(schema: number): CheckRow {
  const now = columnsAt(latestSchema);
  const then = schema === latestSchema ? now : columnsAt(schema);
  const checks = new Map<string, (row: RowLine['row']) => readonly string[]>(
    exportedTables.map((table) => [
      table.name,
      checkOf(table, now.get(table.name) ?? [], then.get(table.name) ?? []),
    ]),
  );
  return ({ table, row }) =>
    checks.get(table)?.(row) ?? [
      `The table ${JSON.stringify(String(table)).slice(0, 60)} is not part of an exported workspace. Remove its rows.`,
    ];
}

const quotedMax = 60;

function checkOf(
  table: ExportedTable,
  now: readonly ColumnFacts[],
  then: readonly ColumnFacts[],
): (row: RowLine['row']) => readonly string[] {
  const known = new Map(now.map((facts) => [facts.name, facts]));
  const names = then
    .map(({ name }) => name)
    .filter(
      (name) => name !== 'workspace_id' && (table.exported.columns?.includes(name) ?? name !== 'packed'),
    );
  const wanted = new Map(names.map((name) => [name, cellFor(table, known.get(name))]));
  return (row) => {
    if (row === null || typeof row !== 'object' || Array.isArray(row))
      return [`A row of ${table.name} must be an object of columns.`];
    const strange = Object.keys(row).filter((name) => !wanted.has(name));
    const wrong = [...wanted].flatMap(([name, cell]) => {
      if (!Object.hasOwn(row, name)) return [`${table.name}.${name} is missing.`];
      const fault = cell(row[name]);
      return fault === null
        ? []
        : [`${table.name}.${name} is ${JSON.stringify(row[name]).slice(0, quotedMax)}: it ${fault}.`];
    });
    return [
      ...strange.map((name) => `${table.name} has no column ${JSON.stringify(name).slice(0, quotedMax)}.`),
      ...wrong,
    ];
  };
}

/** Accepts any value for a removed column, because the insert skips it. */
function cellFor(table: ExportedTable, facts: ColumnFacts | undefined): Format {
  if (!facts) return () => null;
  const cell =
    table.exported.formats?.[facts.name] ??
    cellOfContract(table.contract ?? undefined, facts.name) ??
    cellOfName(table, facts);
  if (!cell) throw new Error(`Describe the format of ${table.name}.${facts.name} in its declaration.`);
  return (value) => (value === null && facts.required === 0 ? null : cell(value));
}

function cellOfContract(contract: Contract | undefined, column: string): Format | undefined {
  for (const [name, field] of Object.entries(contract?.fields ?? {})) {
    if (field.options.computed) continue;
    const [kindColumn, ...others] = actorParts(name).map(snake);
    if (field.type === 'actor') {
      if (column === kindColumn) return oneOf('user', 'plugin', 'system');
      if (others.includes(column)) return text(1_000);
    } else if (column === snake(storedName(name, field)) + (field.type === 'json' ? '_json' : ''))
      return cellOfField(field);
  }
  return undefined;
}

function cellOfField(field: Field): Format {
  const { type, input, response } = field;
  if (isReference(field)) return id(field.to.id);
  if (type === 'flag') return flag;
  if (type === 'time') return moment;
  if (type === 'day') return day;
  if (type === 'json') return json(input, response);
  const { pattern: source, maxLength } = { ...input, ...response } as {
    pattern?: string;
    maxLength?: number;
  };
  if (type === 'choice') return oneOf(...(response as TSchema & { enum: string[] }).enum);
  if (type === 'number') return cellOfNumber(response);
  const isBounded = text(maxLength);
  // The response schema of `text` has no pattern, so that older values stay readable; that of `string` has.
  const shape = 'pattern' in response && type === 'text' && source !== undefined ? pattern(source) : null;
  return (value) => isBounded(value) ?? shape?.(value) ?? null;
}

function cellOfNumber(schema: TSchema): Format {
  const { type, minimum, maximum } = schema as { type?: string; minimum?: number; maximum?: number };
  if (type === 'integer') return integer(minimum ?? Number.MIN_SAFE_INTEGER, maximum);
  return (value) =>
    real(value) ??
    (Number(value) < (minimum ?? -Infinity) || Number(value) > (maximum ?? Infinity)
      ? `must be from ${minimum ?? 'any number'} to ${maximum ?? 'any number'}`
      : null);
}

function cellOfName(
  { contract, name: table, references }: ExportedTable,
  { name, type }: ColumnFacts,
): Format | undefined {
  const target = references[name];
  const of = target === undefined ? null : tableOf[target].contract;
  if (of) return id(of.id);
  if (name === 'id' && contract) return id(contract.id);
  if (name === 'version') return integer(1);
  if (name.endsWith('_at') && type === 'INTEGER') return moment;
  const referenced = exportedTables.find(
    (other) => other.contract && name === `${snake(other.contract.name)}_id`,
  );
  return referenced?.contract && table !== 'events' ? id(referenced.contract.id) : undefined;
}
