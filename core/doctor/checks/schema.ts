import { migrations } from '../../store/migrations/index.ts';
import { schemaAt, schemaEntries, type SchemaEntry } from '../../store/looking.ts';
import { error, some, warning, type Check } from '../check.ts';

export const schema: Check = {
  name: 'schema',
  holds: 'all tables and indexes are there, as this build makes them',
  readsDatabase: true,
  look({ rows }) {
    const [version] = rows<{ user_version: number }>('PRAGMA user_version');
    const at = version?.user_version ?? 0;
    if (at > migrations.length)
      return [
        error(
          `The database has schema ${at}, and this build knows ${migrations.length}: use the newer build.`,
        ),
      ];
    if (at < migrations.length)
      return [
        warning(
          `The database has schema ${at}; the next start of this build makes it ${migrations.length}. Look again then.`,
        ),
      ];
    const wanted = schemaAt(at);
    const found = new Map(rows<SchemaEntry>(schemaEntries).map((entry) => [entry.name, entry]));
    const missing = wanted.filter(({ name }) => !found.has(name));
    const altered = wanted.filter(
      ({ name, sql }) => found.has(name) && plain(found.get(name)!.sql) !== plain(sql),
    );
    const names = new Set(wanted.map(({ name }) => name));
    const foreign = [...found.keys()].filter((name) => !names.has(name));
    const named = (list: readonly SchemaEntry[]): string =>
      some(
        list.map(({ name, type }) => `${type} ${name}`),
        10,
      );
    const onlyIndexes = missing.every(({ type }) => type === 'index');
    return [
      ...(missing.length > 0
        ? [error(`Missing: ${named(missing)}.`, onlyIndexes ? 'indexes' : undefined)]
        : []),
      ...(altered.length > 0
        ? [error(`Not as this build makes it: ${named(altered)}. Somebody else wrote to the database.`)]
        : []),
      ...(foreign.length > 0
        ? [error(`Not made by this build: ${some(foreign, 10)}. Somebody else wrote to the database.`)]
        : []),
    ];
  },
};

const plain = (sql: string): string =>
  sql
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
