import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { unfinished } from '../checks/permissions.ts';
import type { Fix } from './fix.ts';

export const leftovers: Fix = {
  id: 'leftovers',
  does: 'removes what a killed start or command left unfinished',
  isDestructive: false,
  bearsDamage: true,
  mend({ dir }) {
    const left = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
      unfinished.test(name),
    );
    for (const name of left) rmSync(join(dir, name), { recursive: true, force: true });
    return `${left.length} removed.`;
  },
};
