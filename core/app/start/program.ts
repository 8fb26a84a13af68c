// The command, as `core/main.ts` and the programs of the tests start it.
import { cleanStart } from '../cli/clean-start.ts';

/**
 * `cleanStart` runs before the command is loaded, because it may restart the process without configuration from
 * the working directory.
 */
export async function main(): Promise<void> {
  const start = await cleanStart();
  const { tatami } = await import('../cli/tatami.ts');
  await tatami(start);
}
