import { chmodSync } from 'node:fs';
import { pathsOf } from '../../store/paths.ts';
import type { Fix } from './fix.ts';

export const permissions: Fix = {
  id: 'permissions',
  does: 'takes from other users the right to look into the data directory',
  isDestructive: false,
  bearsDamage: true,
  mend({ dir }) {
    const open = pathsOf(dir).filter(({ stats }) => !stats.isSymbolicLink() && (stats.mode & 0o077) !== 0);
    for (const { path, stats } of open) chmodSync(path, stats.mode & 0o700);
    return `${open.length} made private. Whoever could read master.key may have done so: think of \`tatami master-key rotate\`.`;
  },
};
