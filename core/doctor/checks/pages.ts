import { describeDamage, damageOf } from '../../store/integrity/damage.ts';
import { openPageFile } from '../../store/integrity/page-file.ts';
import { verifyPages } from '../../store/integrity/verify.ts';
import { damage, note, type Check } from '../check.ts';

export const pages: Check = {
  name: 'pages',
  holds: 'every page of the database is as Tatami wrote it',
  look({ path, servedBy }) {
    // What is written meanwhile and its checksum are never there at the same moment.
    if (servedBy !== null)
      return [
        note(`The server (process ${servedBy}) compares its pages itself; /readyz tells what it finds.`),
      ];
    const { damaged, isUnsure } = verifyPages(path.database);
    if (damaged.length > 0)
      return [
        damage(`${describePages(path.database, damaged)} A server reads what is whole. Restore a backup.`),
      ];
    return isUnsure
      ? [
          note(
            'Not every page has a checksum; the next start looks at all that the database holds, and makes them.',
          ),
        ]
      : [];
  },
};

export function describePages(database: string, damaged: readonly number[]): string {
  const file = openPageFile(database);
  try {
    return describeDamage(database, damageOf(file, damaged));
  } finally {
    file.close();
  }
}
