// Takes in an exported workspace, into a data directory that no server uses.
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';
import { addressOf } from '../../config/config.ts';
import { examineRows } from '../../doctor/doctor.ts';
import { BadRows, splitLines, insertStatements, takeIn } from '../../../features/export/offline.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { quoted } from '../../../platform/lib/text/printable.ts';
import { openOffline } from '../../setup/offline.ts';
import { createBlobs } from '../../../platform/store/files/blobs.ts';
import { holderOf } from '../../../platform/store/files/data-dir.ts';
import { existingDataDir, type LocalOptions } from '../lib/local.ts';

/** @param folder where a relative data directory begins @throws CommandError */
export async function takeInWorkspace(file: string, options: LocalOptions, folder: string): Promise<void> {
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
      nowMs: systemClock.nowMs,
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
