import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Fix } from './fix.ts';

export const permissions: Fix = {
  id: 'permissions',
  does: 'takes from other users the right to look into the data directory',
  isDestructive: false,
  bearsDamage: true,
  mend({ dir }) {
    const paths = [
      dir,
      ...readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name)),
    ];
    const open = paths.filter((path) => (statSync(path).mode & 0o077) !== 0);
    for (const path of open) chmodSync(path, statSync(path).mode & 0o700);
    return `${open.length} made private. Whoever could read master.key may have done so: think of \`tatami master-key rotate\`.`;
  },
};
