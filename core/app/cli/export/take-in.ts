// `tatami import` of a file that `tatami export` wrote: the workspace comes into a data directory that no server holds.
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, readConfig } from '../../config/config.ts';
import { examineRows } from '../../doctor/doctor.ts';
import { BadRows, isHead, splitLines, insertStatements, takeIn } from '../../../features/export/offline.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { quoted } from '../../../platform/lib/text/printable.ts';
import { openOffline } from '../../setup/offline.ts';
import { createBlobs } from '../../../platform/store/files/blobs.ts';
import { holderOf } from '../../../platform/store/files/data-dir.ts';
import { requireDatabase } from '../lib/local.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';

export interface TakeInOptions {
  dataDir?: string;
  json?: boolean;
}

const headBytes = 4_096;

/** Returns true if the file begins like an exported workspace. */
export function isWorkspace(file: string): boolean {
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
export async function takeInWorkspace(file: string, options: TakeInOptions, folder: string): Promise<void> {
  const config = readConfig(
    options.dataDir === undefined ? {} : { dataDir: options.dataDir },
    undefined,
    folder,
  );
  const { dataDir } = config;
  requireDatabase(dataDir);
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
