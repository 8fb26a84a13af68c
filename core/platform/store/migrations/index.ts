// Lists the migrations in order; the version of a migration is its position in this list. SQL files are embedded as text.
import baseline from './0001-baseline.sql' with { type: 'text' };

export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [{ name: '0001-baseline', sql: baseline }];
