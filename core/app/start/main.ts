// Entry of `bin/tatami`: runs the start-up bundle, or the sources while there is none.
import { packageRoot, typedIn } from '../../platform/lib/process/own-program.ts';
import { enterBundle, requestBundle } from './cache.ts';

// Without this argument the process restarts itself, and only the restarted process has a clean environment.
const isClean = process.argv[2]?.startsWith(typedIn) === true;
if (isClean) {
  enterBundle(packageRoot);
  requestBundle(packageRoot);
}
await import('../../main.ts');
