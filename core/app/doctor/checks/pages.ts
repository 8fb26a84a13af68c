import { describeDamage, damageOf } from '../../../platform/store/integrity/damage.ts';
import { openPageFile } from '../../../platform/store/integrity/pages/page-file.ts';
import { verifyPages } from '../../../platform/store/integrity/verify.ts';
import { damage, note, type Check } from '../check.ts';

export const pages: Check = {
  name: 'pages',
  holds: 'every page of the database matches its checksum',
  look({ path, servedBy }) {
    // A server writes pages and their checksums one after the other, so a comparison would report false errors.
    if (servedBy !== null)
      return [
        note(
          `The running server (process ${servedBy}) checks the pages itself and reports damage at /readyz.`,
        ),
      ];
    const { damaged, isUnsure } = verifyPages(path.database);
    if (damaged.length > 0)
      return [
        damage(
          `${describePages(path.database, damaged)} A server can still read the undamaged pages. Restore a backup.`,
        ),
      ];
    return isUnsure
      ? [note('Some pages have no checksum. The next start checks the whole database and adds them.')]
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
