// `tatami export`: writes a workspace as JSON lines to a file or to stdout, also while a server runs on the directory.
import { closeSync, fsyncSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { linesOf, workspacesIn, type Exported } from '../../features/export/offline.ts';
import { counted } from '../../platform/lib/text/words.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { printableCopy } from '../../platform/lib/text/printable.ts';
import { createArchive } from '../../platform/store/files/archive.ts';
import { blobPath, type Digest } from '../../platform/store/files/blobs.ts';
import { openToLook } from '../../platform/store/engine/looking.ts';
import { holderOf } from '../../platform/store/files/data-dir.ts';
import { openNewPrivateFile } from '../../platform/store/files/private.ts';
import { existingDataDir, type LocalOptions } from './lib/local.ts';
import { requireReplaceable } from './lib/write-file.ts';
import { usage } from './lib/flags.ts';
import { CommandError, createProgress, exitCodes, isTerminal, pour, printResult, say } from './lib/output.ts';

export interface ExportOptions extends LocalOptions {
  workspace?: string;
  force?: boolean;
}

/** Lines that are written at a time (characters). */
const writtenAtOnce = 256 * 1024;

/** @param folder where relative paths begin @throws CommandError */
export async function exportWorkspace(file: string, options: ExportOptions, folder: string): Promise<void> {
  const { dataDir } = existingDataDir(options, folder);
  const path = file === '-' ? null : resolve(folder, file);
  if (path === null) requirePipe(options);
  else requireReplaceable(path, options.force);
  const db = openToLook(join(dataDir, 'tatami.db'), holderOf(dataDir) !== null);
  const progress = createProgress();
  try {
    const workspace = chosen(workspacesIn(db), options.workspace);
    const beside = {
      archive: createArchive(join(dataDir, 'archive'), () => undefined),
      pathOf: (sha256: Digest) => blobPath(join(dataDir, 'blobs'), sha256),
    };
    const lines = inPieces(linesOf(db, beside, workspace), (done) => progress.show(counted(done, 'line')));
    const rows = path === null ? await drained(lines, pour) : await writeFile(path, lines, options.force);
    progress.end();
    const summary = ({ name }: Exported, to: string): string => `${to}: ${name}, ${counted(rows, 'row')}`;
    if (path === null) say(summary(printableCopy(workspace), 'stdout'));
    else
      printResult({ file: path, workspace, rows }, options, (shown) => summary(shown.workspace, shown.file));
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
  if (workspaces.length === 0)
    throw new CommandError('The data directory has no workspace. Create one with `tatami init`.');
  const message =
    found.length === 0
      ? `There is no workspace ${named}. Choose one of these with --workspace:`
      : 'There are several workspaces. Choose one with --workspace, by its id if two have the same name:';
  throw new CommandError(message, undefined, { lines: list });
}

/** @throws CommandError */
function requirePipe({ json, force }: ExportOptions): void {
  if (json || force) throw usage('`-` writes the export to stdout, so --json and --force need a file.');
  if (isTerminal())
    throw usage(
      'An export cannot be written to a terminal. Redirect it to a file or pipe it to a program, such as `tatami export - | ssh …`.',
    );
}

/** An export appears under its name only when it is complete. @returns what the lines return @throws CommandError */
async function writeFile<R>(
  path: string,
  lines: AsyncGenerator<string, R>,
  force: boolean | undefined,
): Promise<R> {
  const unfinished = `${path}.part`;
  const fd = openNewPrivateFile(unfinished);
  try {
    const result = await drained(lines, (piece) => void writeSync(fd, piece));
    fsyncSync(fd);
    requireReplaceable(path, force);
    renameSync(unfinished, path);
    return result;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

async function drained<R>(
  pieces: AsyncGenerator<string, R>,
  write: (piece: string) => Promise<void> | void,
): Promise<R> {
  for (;;) {
    const piece = await pieces.next();
    if (piece.done) return piece.value;
    await write(piece.value);
  }
}

/** Many lines in one piece. */
async function* inPieces<R>(
  lines: AsyncGenerator<string, R>,
  onLines: (done: number) => void,
): AsyncGenerator<string, R> {
  let held = '';
  for (let count = 1; ; count++) {
    const line = await lines.next();
    if (line.done) {
      yield held;
      return line.value;
    }
    held += `${line.value}\n`;
    if (held.length < writtenAtOnce) continue;
    yield held;
    held = '';
    onLines(count);
  }
}
