// Lists the migrations in the order of their file names; the version of a migration is its position in this list. SQL
// files are embedded as text.
import { all } from '../generated/migrations.ts';

export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = all;
