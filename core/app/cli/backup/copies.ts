// `tatami copies list|verify`: the restore points of a continuous copy, and its damage.
import { readCopyAddress } from '../../config/config.ts';
import { openDestination } from '../../../platform/backup/copy/destination/destination.ts';
import { listCopy, verifyCopy, type CopyReport } from '../../../platform/backup/copy/inspect.ts';
import { timeText } from '../../../platform/backup/copy/timeline.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';

export interface CopiesOptions {
  readonly json?: boolean;
}

/** @param where a directory, or `s3://bucket/prefix` */
export async function listCopies(where: string, options: CopiesOptions, folder: string): Promise<void> {
  const { to, s3 } = readCopyAddress(where, folder);
  printResult(await listCopy(openDestination(to, s3)), options, reportLines);
}

/** Exits with 1 if an object is damaged. */
export async function verifyCopies(where: string, options: CopiesOptions, folder: string): Promise<void> {
  const { to, s3 } = readCopyAddress(where, folder);
  const progress = createProgress();
  const report = await verifyCopy(openDestination(to, s3), (done, of) =>
    progress.show(`${done} of ${of} objects`),
  );
  progress.end();
  printResult(report, options, reportLines);
  if (!report.chains.some(({ moments }) => moments.length > 0))
    throw new CommandError(
      `Nothing can be restored from ${where} yet: the copy has no restore point. Keep the server running until the first base is complete.`,
      exitCodes.failed,
    );
  if (report.damaged.length > 0)
    throw new CommandError(
      `${report.damaged.length} objects of ${where} are damaged. Make a backup with \`tatami backup\`, and check the storage.`,
      exitCodes.failed,
    );
}

function reportLines({ chains, damaged }: CopyReport): string {
  const lines = chains.flatMap(({ chain, moments, bases, segments }) => [
    `${chain}: ${bases} bases, ${segments} segments`,
    ...moments.map(({ fromMs, toMs }) => `  from ${timeText(fromMs)} to ${timeText(toMs)}`),
    ...(moments.length === 0 ? ['  no restore point yet'] : []),
  ]);
  const bad = damaged.map(({ name, reason }) => `damaged: ${name}: ${reason}`);
  return [
    ...(lines.length === 0 ? ['No copy found. Start the server with --copy-to to create one.'] : lines),
    ...bad,
  ].join('\n');
}
