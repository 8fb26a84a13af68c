// Migrates a database to a schema two steps newer than that of this build. Argument: the data directory.
import { join } from 'node:path';
import { migrate } from '../../core/platform/store/migrate.ts';
import { laterMigrations } from './later-migrations.ts';

const dir = process.argv[2] ?? '';
migrate(
  { path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots'), nowMs: () => 1_800_000_000_000 },
  laterMigrations,
);
