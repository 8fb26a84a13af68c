// The migrations in their order; a number is a position in this list. Files are embedded as text.
import spine from './0001-spine.sql' with { type: 'text' };
import runProgress from './0002-run-progress.sql' with { type: 'text' };

export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [
  { name: '0001-spine', sql: spine },
  { name: '0002-run-progress', sql: runProgress },
];
