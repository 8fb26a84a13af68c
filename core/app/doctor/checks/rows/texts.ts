import { unpack } from '../../../../kernel/events/log/packing.ts';
import type { RowSubject } from '../../subject.ts';
import { damage, some, type RowCheck, type Finding } from '../../check.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

export const texts: RowCheck = {
  name: 'texts',
  holds: 'all text is valid UTF-8, and all JSON is valid',
  readsDatabase: true,
  look(subject) {
    const tables = subject.rows<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    );
    return [...tables.flatMap(({ name }) => textsOf(subject, name)), ...packedEvents(subject)];
  },
};

/** Returns true if the data of an event is packed or stored elsewhere; see core/kernel/events/log/packing.ts. */
const isElsewhere = (text: string): boolean => /^([=@]\d+)?$/.test(text);

function packedEvents({ database }: RowSubject): Finding[] {
  const all = database()
    .prepare('SELECT sequence, packed FROM events WHERE packed IS NOT NULL')
    .iterate() as Iterable<{ sequence: number; packed: Uint8Array }>;
  const bad: string[] = [];
  for (const { sequence, packed } of all) {
    try {
      JSON.parse(unpack({ cause_json: '', data_json: '', packed }).data);
    } catch {
      bad.push(String(sequence));
    }
  }
  return bad.length > 0
    ? [damage(`The data of these events is damaged: ${some(bad)}. Restore a backup.`)]
    : [];
}

/** Reads texts as blobs, because libsql aborts the process on text that is not UTF-8. */
function textsOf({ rows, database }: RowSubject, table: string): Finding[] {
  const columns = rows<{ name: string; type: string }>(`PRAGMA table_info(${quoted(table)})`)
    .filter(({ type }) => type === 'TEXT')
    .map(({ name }) => name);
  if (columns.length === 0) return [];
  const select = columns.map((column) => `CAST(${quoted(column)} AS BLOB)`).join(', ');
  const bad = new Map<string, number>();
  const all = database()
    .prepare(`SELECT ${select} FROM ${quoted(table)}`)
    .raw(true)
    .iterate();
  for (const values of all as Iterable<(Uint8Array | null)[]>)
    for (const [index, value] of values.entries()) {
      const column = columns[index]!;
      if (value !== null && !isWhole(value, column.endsWith('_json')))
        bad.set(column, (bad.get(column) ?? 0) + 1);
    }
  if (bad.size === 0) return [];
  return [
    damage(
      `Texts are damaged in ${table}: ${some([...bad].map(([column, count]) => `${count} of ${column}`))}. Restore a backup.`,
    ),
  ];
}

/** Quotes an identifier; another program may have created the table with any name. */
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function isWhole(bytes: Uint8Array, isJson: boolean): boolean {
  try {
    const text = decoder.decode(bytes);
    if (isJson && !isElsewhere(text)) JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
