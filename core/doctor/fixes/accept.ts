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
  does: 'accepts the database as it is; acknowledged writes that it lacks are lost',
  isDestructive: true,
  bearsDamage: true,
  check({ path, rows }, { altered }) {
    requireDatabase(path.database);
    const { damaged } = verifyPages(path.database);
    if (damaged.length > 0 && !altered)
      throw new Error(
        `${describePages(path.database, damaged)} Their contents may be wrong without being noticed. Restore a backup. Pass --altered only if you changed the database yourself with another program.`,
      );
    const damage = checkWhole(path.database)[0] ?? brokenReferences({ rows })[0];
    if (damage !== undefined)
      throw new Error(`${path.database} is damaged and cannot be accepted: ${damage}. Restore a backup.`);
    requireTables({ path, rows });
  },
  mend({ dir, path, nowMs }) {
    const generation = beginHistory(path.database, nowMs);
    adoptDatabase(dir);
    return `accepted the database. Log generation ${generation} begins, and readers of the feed are notified. Webhooks, plugins and schedules wait for \`tatami release\`.`;
  },
};
