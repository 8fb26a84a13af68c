// Gives a process the migrations of a later build: `bun --preload test/upgrade/as-later-build.ts`.
import { migrations, type Migration } from '../../core/platform/store/migrations/index.ts';
import { laterMigrations } from '../faults/later-migrations.ts';

(migrations as Migration[]).push(...laterMigrations.slice(migrations.length));
