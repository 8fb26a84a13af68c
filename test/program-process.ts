// Does what core/main.ts does. A bundle with bytecode takes no `await` at the top of a module, so that core/main.ts cannot be its entry.
import { cleanStart } from '../core/commands/clean-start.ts';

async function main(): Promise<void> {
  const start = await cleanStart();
  const { tatami } = await import('../core/commands/tatami.ts');
  await tatami(start);
}

void main();
