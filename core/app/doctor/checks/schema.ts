import { migrations } from '../../../platform/store/migrations/index.ts';
import { schemaAt, schemaEntries, type SchemaEntry } from '../../../platform/store/engine/looking.ts';
import { damage, error, some, warning, type Check, type Finding } from '../check.ts';

export const schema: Check = {
  name: 'schema',
  holds: 'all tables and indexes match the schema of this version',
  readsDatabase: true,
  look({ rows }) {
    const [version] = rows<{ user_version: number }>('PRAGMA user_version');
    const at = version?.user_version ?? 0;
    if (at > migrations.length)
      return [
        damage(
          `The database has schema ${at}, but this version of Tatami supports up to ${migrations.length}. Use the newer version.`,
        ),
      ];
    if (at < migrations.length)
      return [
        {
          ...warning(
            `The database has schema ${at}. The next start of the server upgrades it to ${migrations.length}; run the doctor again after that.`,
          ),
          blocks: 'of an earlier schema',
        },
      ];
    return compare(schemaAt(at), rows<SchemaEntry>(schemaEntries));
  },
};

function compare(wanted: readonly SchemaEntry[], actual: readonly SchemaEntry[]): Finding[] {
  const byName = new Map(actual.map((entry) => [entry.name, entry]));
  const missing = wanted.filter(({ name }) => !byName.has(name));
  const altered = wanted.filter(
    ({ name, sql }) => byName.has(name) && plain(byName.get(name)!.sql) !== plain(sql),
  );
  const names = new Set(wanted.map(({ name }) => name));
  const foreign = actual.filter(({ name }) => !names.has(name));
  const onlyIndexes = missing.every(({ type }) => type === 'index');
  const drops = foreign.map(
    ({ name, type }) => `DROP ${type.toUpperCase()} "${name.replaceAll('"', '""')}";`,
  );
  return [
    ...(missing.length > 0
      ? [
          onlyIndexes
            ? error(`Missing from the database: ${listEntries(missing)}.`, 'indexes')
            : damage(`Missing from the database: ${listEntries(missing)}. Restore a backup.`),
        ]
      : []),
    ...(altered.length > 0
      ? [
          damage(
            `Different from the schema of this version: ${listEntries(altered)}. Another program changed the database. Restore a backup.`,
          ),
        ]
      : []),
    ...(foreign.length > 0
      ? [
          error(
            `Not part of the schema: ${listEntries(foreign)}. Another program changed the database, and an upgrade may fail because of that. Stop the server, run \`${drops.join(' ')}\` in sqlite3, then run \`tatami doctor fix accept --altered\`.`,
          ),
        ]
      : []),
  ];
}

const listEntries = (list: readonly SchemaEntry[]): string =>
  some(
    list.map(({ name, type }) => `${type} ${name}`),
    10,
  );

const plain = (sql: string): string =>
  sql
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
