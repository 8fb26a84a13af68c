// A workspace with rows in every exported table, its export file, and directories into which hostile versions of it are
// imported.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { examineRows } from '../../core/app/doctor/doctor.ts';
import { BadRows } from '../../core/features/export/check.ts';
import { insertStatements, takeIn } from '../../core/features/export/read.ts';
import { linesOf } from '../../core/features/export/write.ts';
import { ApiError } from '../../core/platform/lib/errors/errors.ts';
import { openOffline, type Offline } from '../../core/app/setup/offline.ts';
import { createArchive } from '../../core/platform/store/files/archive.ts';
import { blobPath, createBlobs } from '../../core/platform/store/files/blobs.ts';
import { openToLook } from '../../core/platform/store/engine/looking.ts';
import { openStore } from '../../core/platform/store/open-store.ts';
import { seed, type Seeds } from '../api/seeds.ts';
import { ownCopy } from '../faults/own-copy.ts';
import { startApp, testStart, type Json } from '../app.ts';

export interface Exported {
  readonly lines: readonly string[];
  readonly seeds: Seeds;
  readonly workspaceId: string;
  readonly userId: string;
}

export async function exportSeeded(): Promise<Exported> {
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  try {
    const seeds = await seed(app, app.call, 'ENG', `http://127.0.0.1:${receiver.port}/`);
    const { json: ana } = await app.call('POST', '/api/v1/members', {
      name: 'Ana',
      email: 'ana@acme.example',
    });
    await app.call('PATCH', `/api/v1/issues/${seeds.issue}`, { assigneeId: ana.id, labels: ['bug'] });
    const card = { issueId: seeds.issue, column: 'backlog', position: 'top' };
    await app.call('POST', `/api/v1/boards/${seeds.board}/move`, card);
    const upload = `/api/v1/issues/${seeds.issue}/attachments/upload?name=a.png`;
    await app.call('POST', upload, 'content', { 'content-type': 'image/png' });
    await app.settled();
    const { workspaceId, userId } = app.workspace;
    const db = openToLook(join(app.dataDir, 'tatami.db'), true);
    const beside = {
      archive: createArchive(join(app.dataDir, 'archive'), () => undefined),
      pathOf: (sha256: Parameters<typeof blobPath>[1]) => blobPath(join(app.dataDir, 'blobs'), sha256),
    };
    const lines: string[] = [];
    for await (const line of linesOf(db, beside, { id: workspaceId, name: 'Acme' })) lines.push(line);
    db.close();
    return { lines, seeds, workspaceId, userId };
  } finally {
    await app.stop();
    await receiver.stop(true);
  }
}

interface Refusal {
  readonly message: string;
  readonly lines: readonly string[];
}

export interface Target {
  readonly dataDir: string;
  /** @returns the reason of the rejection, with one sentence per bad line first; null if the file was imported */
  import(lines: readonly string[]): Promise<Refusal | null>;
  /** Number of workspace rows in all tables. */
  rows(): number;
  close(): Promise<void>;
}

/**
 * Data directories without a workspace.
 * @param folder parent of the directories
 */
export function createTargets(folder: string) {
  let created = 0;
  const first = join(folder, 'empty');
  return async (): Promise<Target> => {
    if (created === 0) await openStore(first, () => testStart).close();
    const dataDir = join(folder, `target-${++created}`);
    cpSync(first, dataDir, { recursive: true });
    ownCopy(dataDir);
    insertStatements();
    const offline = openOffline(dataDir, 'http://localhost', () => testStart);
    return targetOf(offline, dataDir);
  };
}

function targetOf({ store, close }: Offline, dataDir: string): Target {
  const limits = { fileBytesMax: Infinity, workspaceBytesMax: Infinity };
  const blobs = createBlobs({ folder: join(dataDir, 'blobs'), limits, nowMs: () => testStart });
  return {
    dataDir,
    async import(lines) {
      const open = async function* (): AsyncGenerator<string> {
        yield* lines;
      };
      try {
        await takeIn(store, open, {
          examine: examineRows,
          blobs,
          nowMs: () => testStart,
          onRows: () => undefined,
        });
        return null;
      } catch (error) {
        const lines = error instanceof BadRows ? error.lines : [];
        if (error instanceof ApiError) return { message: error.message, lines };
        throw error;
      }
    },
    rows() {
      const db = openToLook(join(dataDir, 'tatami.db'), true);
      const tables = db
        .prepare(
          "SELECT t.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' AND c.name = 'workspace_id'",
        )
        .all() as { name: string }[];
      const counts = tables.map(
        ({ name }) => db.prepare(`SELECT count(*) AS n FROM ${name}`).all()[0] as { n: number },
      );
      db.close();
      return counts.reduce((sum, { n }) => sum + n, 0);
    },
    close,
  };
}

/** Changes the first row of a table, or the first one that satisfies `isIt`. */
export function changed(
  lines: readonly string[],
  table: string,
  change: (row: Record<string, Json>) => void,
  isIt: (row: Record<string, Json>) => boolean = () => true,
): string[] {
  const at = lines.findIndex((line) => line.startsWith(`{"table":"${table}"`) && isIt(JSON.parse(line).row));
  if (at < 0) throw new Error(`The file has no such row of ${table}.`);
  const line = JSON.parse(lines[at]!);
  change(line.row);
  return lines.with(at, JSON.stringify(line));
}

/** Appends rows to a table, after its last row or before the end of the file. */
export function added(lines: readonly string[], table: string, ...rows: readonly object[]): string[] {
  const last = lines.findLastIndex((line) => line.startsWith(`{"table":"${table}"`));
  const end = JSON.parse(lines.at(-1)!);
  const more = rows.map((row) => JSON.stringify({ table, row }));
  const at = last < 0 ? lines.length - 1 : last + 1;
  return [
    ...lines.toSpliced(at, 0, ...more).slice(0, -1),
    JSON.stringify({ ...end, rows: end.rows + more.length }),
  ];
}
