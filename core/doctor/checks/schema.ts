import { migrations } from '../../store/migrations/index.ts';
import { schemaAt, schemaEntries, type SchemaEntry } from '../../store/looking.ts';
import { damage, error, some, warning, type Check, type Finding } from '../check.ts';

export const schema: Check = {
  name: 'schema',
  holds: 'all tables and indexes are there, as this build makes them',
  readsDatabase: true,
  look({ rows }) {
    const [version] = rows<{ user_version: number }>('PRAGMA user_version');
    const at = version?.user_version ?? 0;
    if (at > migrations.length)
      return [
        damage(
          `The database has schema ${at}, and this build knows ${migrations.length}: use the newer build.`,
        ),
      ];
    if (at < migrations.length)
      return [
        {
          ...warning(
            `The database has schema ${at}; the next start of this build makes it ${migrations.length}. Look again then.`,
          ),
          blocks: 'of an earlier schema',
        },
      ];
    return compare(schemaAt(at), rows<SchemaEntry>(schemaEntries));
  },
};

function compare(wanted: readonly SchemaEntry[], found: readonly SchemaEntry[]): Finding[] {
  const byName = new Map(found.map((entry) => [entry.name, entry]));
  const missing = wanted.filter(({ name }) => !byName.has(name));
  const altered = wanted.filter(
    ({ name, sql }) => byName.has(name) && plain(byName.get(name)!.sql) !== plain(sql),
  );
  const names = new Set(wanted.map(({ name }) => name));
  const foreign = found.filter(({ name }) => !names.has(name));
  const onlyIndexes = missing.every(({ type }) => type === 'index');
  const drops = foreign.map(
    ({ name, type }) => `DROP ${type.toUpperCase()} "${name.replaceAll('"', '""')}";`,
  );
  return [
    ...(missing.length > 0
      ? [
          onlyIndexes
            ? error(`Missing: ${named(missing)}.`, 'indexes')
            : damage(`Missing: ${named(missing)}.`),
        ]
      : []),
    ...(altered.length > 0
      ? [damage(`Not as this build makes it: ${named(altered)}. Somebody else wrote to the database.`)]
      : []),
    ...(foreign.length > 0
      ? [
          error(
            `Not made by this build: ${named(foreign)}. Somebody else wrote to the database; an upgrade may fail over it. Remove it with sqlite3 while the server is stopped (\`${drops.join(' ')}\`), then run \`tatami doctor fix accept --altered\`.`,
          ),
        ]
      : []),
  ];
}

const named = (list: readonly SchemaEntry[]): string =>
  some(
    list.map(({ name, type }) => `${type} ${name}`),
    10,
  );

const plain = (sql: string): string =>
  sql
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
