// `tatami import`: selects the import by the content of the file. Issues of another tracker go to a server (issues.ts); a workspace that
// `tatami export` wrote goes into a data directory that no server uses.
import {
  createWriteStream,
  mkdtempSync,
  rmSync,
  closeSync,
  createReadStream,
  openSync,
  readSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';
import { importIssues, type ImportOptions } from './issues.ts';
import { requireFile } from './survey.ts';
import { addressOf } from '../../config/config.ts';
import { examineRows } from '../../doctor/doctor.ts';
import { BadRows, isHead, splitLines, insertStatements, takeIn } from '../../../features/export/offline.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { quoted } from '../../../platform/lib/text/printable.ts';
import { openOffline } from '../../setup/offline.ts';
import { createBlobs } from '../../../platform/store/files/blobs.ts';
import { holderOf } from '../../../platform/store/files/data-dir.ts';
import { existingDataDir, type LocalOptions } from '../lib/local.ts';

export type AnyImportOptions = ImportOptions & LocalOptions;

/** @param folder where relative paths begin */
export async function importAny(file: string, options: AnyImportOptions, folder: string): Promise<void> {
  return file === '-' ? importInput(options, folder) : importFile(resolve(folder, file), options, folder);
}

/** An import reads its file more than once, so standard input is written to a file first. */
async function importInput(options: AnyImportOptions, folder: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'tatami-import-'));
  const clean = (): void => rmSync(place, { recursive: true, force: true });
  process.on('exit', clean);
  try {
    const file = join(place, 'stdin');
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }));
    await importFile(file, options, folder);
  } finally {
    clean();
  }
}

async function importFile(file: string, options: AnyImportOptions, folder: string): Promise<void> {
  requireFile(file);
  const people = options.people === undefined ? {} : { people: resolve(folder, options.people) };
  if (!isWorkspace(file)) return importIssues(file, { ...options, ...people });
  if (options.people !== undefined)
    throw new CommandError(`${file} is an exported workspace and includes its members. Omit --people.`);
  await takeInWorkspace(file, options, folder);
}

const headBytes = 4_096;

/** Returns true if the file begins like an exported workspace. */
function isWorkspace(file: string): boolean {
  const bytes = Buffer.alloc(headBytes);
  const fd = openSync(file, 'r');
  try {
    const [line = ''] = bytes.subarray(0, readSync(fd, bytes)).toString('utf8').split('\n');
    return isHead(line);
  } finally {
    closeSync(fd);
  }
}

/** @param folder where a relative data directory begins @throws CommandError */
async function takeInWorkspace(file: string, options: LocalOptions, folder: string): Promise<void> {
  const config = existingDataDir(options, folder);
  const { dataDir } = config;
  const holder = holderOf(dataDir);
  if (holder !== null)
    throw new CommandError(
      `Process ${holder} uses ${dataDir}. Stop the server and run this command again.`,
      exitCodes.tryLater,
    );
  insertStatements();
  const { store, close } = openOffline(dataDir, addressOf(config), systemClock.nowMs);
  const progress = createProgress();
  // Everything that the original server accepted is imported.
  const limits = { fileBytesMax: Infinity, workspaceBytesMax: Infinity };
  const blobs = createBlobs({ folder: join(dataDir, 'blobs'), limits, nowMs: systemClock.nowMs });
  try {
    const taken = await takeIn(store, () => splitLines(createReadStream(file, 'utf8')), {
      examine: examineRows,
      blobs,
      onRows: (done) => progress.show(counted(done, 'row')),
    });
    progress.end();
    printResult(taken, options, ({ workspace, rows, before }) => {
      const again = before > 0 ? `, ${counted(before, 'row')} of them already present` : '';
      return `Imported ${workspace.name}: ${counted(rows, 'row')}${again}. Create a key: tatami keys create --data-dir ${quoted(dataDir)} --workspace ${quoted(workspace.id)}`;
    });
  } catch (error) {
    if (error instanceof BadRows)
      throw new CommandError(error.message, exitCodes.failed, { cause: error, lines: error.lines.slice(1) });
    if (error instanceof ApiError) throw new CommandError(error.message, exitCodes.failed, { cause: error });
    throw error;
  } finally {
    await close();
  }
}
