// Prepares a recorded statement on a connection of a baseline server.
import type Database from 'libsql';
import type { RecordedStatement } from './recorded.ts';

type Value = string | bigint | number | null | Uint8Array;
type Runnable = (
  values: Readonly<Record<string, Value | { readonly base64: string }>>,
) => Record<string, Value>[];

export function prepare(
  db: InstanceType<typeof Database>,
  { text, params, returnsRows }: RecordedStatement,
): Runnable {
  const prepared = db.prepare(text);
  return (values) => {
    const bound = params.map((name) => {
      const value = values[name]!;
      if (value !== null && typeof value === 'object' && 'base64' in value)
        return Buffer.from(value.base64, 'base64');
      return typeof value === 'number' ? BigInt(value) : value;
    });
    if (returnsRows) return prepared.all(bound) as Record<string, Value>[];
    prepared.run(bound);
    return [];
  };
}
