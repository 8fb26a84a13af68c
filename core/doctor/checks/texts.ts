import { unpack } from '../../events/packing.ts';
import type { RowSubject } from '../subject.ts';
import { damage, some, type RowCheck, type Finding } from '../check.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

export const texts: RowCheck = {
  name: 'texts',
  holds: 'every text is UTF-8, and every JSON value is JSON',
  readsDatabase: true,
  look(subject) {
    const tables = subject.rows<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    );
    return [...tables.flatMap(({ name }) => textsOf(subject, name)), ...packedEvents(subject)];
  },
};

/** What an event says rests packed, or elsewhere; see core/events/packing.ts. */
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
  return bad.length > 0 ? [damage(`What these events say is damaged: ${some(bad)}.`)] : [];
}

/** Read as blobs, because libsql ends the process for a text that is no UTF-8. */
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
    damage(`Damaged texts in ${table}: ${some([...bad].map(([column, count]) => `${count} of ${column}`))}.`),
  ];
}

/** Somebody else may have made the table. */
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
