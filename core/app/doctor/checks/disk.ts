import { readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { error, note, warning, type Check, type Finding } from '../check.ts';

/** Minimum free space for the database to grow. */
const littleBytes = 256 * 1024 * 1024;

export const disk: Check = {
  name: 'disk',
  holds: 'there is enough disk space for the database and a snapshot of it',
  look({ dir, path }) {
    const { bavail, bsize } = statfsSync(dir);
    const free = bavail * bsize;
    const size = sizeOf(path.database);
    const log = sizeOf(`${path.database}-wal`);
    const findings: Finding[] = [];
    if (free < littleBytes)
      findings.push(
        error(
          `Only ${bytesText(free)} are free at ${dir}, and the database has ${bytesText(size)}. Free disk space.`,
        ),
      );
    else if (free < size)
      findings.push(
        warning(
          `Only ${bytesText(free)} are free at ${dir}. An upgrade needs ${bytesText(size)} for a snapshot. Free disk space before you upgrade.`,
        ),
      );
    if (log > 64 * 1024 * 1024 && log > size)
      findings.push(note(`The write-ahead log has ${bytesText(log)}. Stop the server to checkpoint it.`));
    const old = filesIn(path.snapshots);
    if (old.length > 1)
      findings.push(
        note(
          `${old.length} upgrade snapshots use ${bytesText(old.reduce((sum, file) => sum + sizeOf(file), 0))}. Delete the older ones if you need the space.`,
        ),
      );
    return findings;
  },
};

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function filesIn(dir: string): string[] {
  return statSync(dir, { throwIfNoEntry: false }) ? readdirSync(dir).map((name) => join(dir, name)) : [];
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a size with binary units: `1536` → `1.5 KiB`. */
function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
