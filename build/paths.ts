// Where the build finds and leaves things.
import { join } from 'node:path';

export const root = join(import.meta.dir, '..');
/** What is slow to make or to fetch, by hash. It goes with the dependencies. */
export const cacheDir = join(root, 'node_modules/.cache/tatami-build');
