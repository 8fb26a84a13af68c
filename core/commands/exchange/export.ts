// `tatami export`: writes a workspace to a file of JSON lines, also while a server runs on the directory.
import { closeSync, fsyncSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readConfig } from '../../config.ts';
import { linesOf, workspacesIn, type Exported } from '../../exchange/write.ts';
import { counted } from '../../lib/counted.ts';
import { ApiError } from '../../lib/errors.ts';
import { createArchive } from '../../store/archive.ts';
import { blobPath, type Digest } from '../../store/blobs.ts';
import { openToLook } from '../../store/looking.ts';
import { holderOf } from '../../store/data-dir.ts';
import { openNewPrivateFile } from '../../store/private.ts';
import { requireDatabase } from '../local.ts';
import { requireReplaceable } from '../write-file.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../output.ts';

export interface ExportOptions {
  dataDir?: string;
  workspace?: string;
  force?: boolean;
  json?: boolean;
}

/** Lines that are written at a time (characters). */
const writtenAtOnce = 256 * 1024;

/** @param folder where relative paths begin @throws CommandError */
export async function exportWorkspace(file: string, options: ExportOptions, folder: string): Promise<void> {
  const { dataDir } = readConfig(
    options.dataDir === undefined ? {} : { dataDir: options.dataDir },
    undefined,
    folder,
  );
  requireDatabase(dataDir);
  const path = resolve(folder, file);
  requireReplaceable(path, options.force);
  const db = openToLook(join(dataDir, 'tatami.db'), holderOf(dataDir) !== null);
  const progress = createProgress();
  try {
    const workspace = chosen(workspacesIn(db), options.workspace);
    const beside = {
      archive: createArchive(join(dataDir, 'archive'), () => undefined),
      pathOf: (sha256: Digest) => blobPath(join(dataDir, 'blobs'), sha256),
    };
    const rows = await writeLines(`${path}.part`, linesOf(db, beside, workspace), (done) =>
      progress.show(counted(done, 'line')),
    );
    nameExport(path, options.force);
    progress.end();
    printResult(
      { file: path, workspace, rows },
      options,
      (shown) => `${shown.file}: ${shown.workspace.name}, ${counted(shown.rows, 'row')}`,
    );
  } catch (error) {
    if (error instanceof ApiError) throw new CommandError(error.message, exitCodes.failed, { cause: error });
    throw error;
  } finally {
    db.close();
  }
}

/** @throws CommandError */
function chosen(workspaces: readonly Exported[], named: string | undefined): Exported {
  const byId = workspaces.filter(({ id }) => id === named);
  const found =
    byId.length > 0 ? byId : workspaces.filter(({ name }) => named === undefined || name === named);
  const [only] = found;
  if (only && found.length === 1) return only;
  const list = workspaces.map(({ id, name }) => `  ${name} (${id})`);
  if (workspaces.length === 0) throw new CommandError('There is no workspace in this directory.');
  const message =
    found.length === 0
      ? `There is no workspace ${named}. Name one of these with --workspace:`
      : 'There are several workspaces. Name one of them with --workspace, by its id where two have one name:';
  throw new CommandError(message, undefined, { lines: list });
}

/** An export appears under its name only when it is complete. @throws CommandError */
function nameExport(path: string, force: boolean | undefined): void {
  const unfinished = `${path}.part`;
  try {
    requireReplaceable(path, force);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** @returns what the lines return */
async function writeLines<R>(
  unfinished: string,
  lines: AsyncGenerator<string, R>,
  onLines: (done: number) => void,
): Promise<R> {
  const fd = openNewPrivateFile(unfinished);
  let result: R;
  try {
    let held = '';
    for (let count = 1; ; count++) {
      const line = await lines.next();
      if (line.done) {
        result = line.value;
        break;
      }
      held += `${line.value}\n`;
      if (held.length < writtenAtOnce) continue;
      writeSync(fd, held);
      held = '';
      onLines(count);
    }
    writeSync(fd, held);
    fsyncSync(fd);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  return result;
}
