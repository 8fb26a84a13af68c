import { requireDatabase, requireTables } from '../acceptable.ts';
import { adoptDatabase } from '../../store/integrity/adopt.ts';
import { verifyPages } from '../../store/integrity/verify.ts';
import { checkWhole } from '../../store/integrity/whole-check.ts';
import { beginHistory } from '../../store/new-history.ts';
import { describePages } from '../checks/pages.ts';
import { brokenReferences } from '../checks/structure.ts';
import type { Fix } from './fix.ts';

export const accept: Fix = {
  id: 'accept',
  does: 'takes the database as it is for the whole truth: what was acknowledged and is not in it is given up',
  isDestructive: true,
  bearsDamage: true,
  check({ path, rows }, { altered }) {
    requireDatabase(path.database);
    const { damaged } = verifyPages(path.database);
    if (damaged.length > 0 && !altered)
      throw new Error(
        `${describePages(path.database, damaged)} What is in them may be wrong without being noticed. Restore a backup; only if you changed the database yourself, with another program, say --altered.`,
      );
    const damage = checkWhole(path.database)[0] ?? brokenReferences({ rows })[0];
    if (damage !== undefined)
      throw new Error(
        `${path.database} is damaged: ${damage}. A damaged database is not accepted; restore a backup.`,
      );
    requireTables({ path, rows });
  },
  mend({ dir, path, nowMs }) {
    const generation = beginHistory(path.database, nowMs);
    adoptDatabase(dir);
    return `accepted. A history ${generation} begins, of which readers of the feed are told. Webhooks, plugins and schedules wait for \`tatami release\`.`;
  },
};
