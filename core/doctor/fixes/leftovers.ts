import { rmSync } from 'node:fs';
import { unfinished } from '../checks/permissions.ts';
import { pathsOf } from '../../store/paths.ts';
import type { Fix } from './fix.ts';

export const leftovers: Fix = {
  id: 'leftovers',
  does: 'removes unfinished files of a killed start or command',
  isDestructive: false,
  bearsDamage: true,
  mend({ dir }) {
    const left = pathsOf(dir).filter(({ path }) => path !== dir && unfinished.test(path));
    for (const { path } of left) rmSync(path, { recursive: true, force: true });
    return `removed ${left.length} unfinished files.`;
  },
};
