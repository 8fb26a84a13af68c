// Every test, for `npm test`: two files at a time, and then, one after the other, those that want the machine to themselves. With
// arguments it is `bun test` with these.
import { join } from 'node:path';

const root = join(import.meta.dir, '..');

/** They measure what somebody feels beside a flood or an attack, or keep every core busy. */
const alone = [
  'test/main-job.test.ts',
  'test/fairness/*.test.ts',
  'test/sandbox/attacks.test.ts',
  'test/sandbox/starved.test.ts',
];

/** @returns whether every test passed */
async function bunTest(args: readonly string[]): Promise<boolean> {
  const { exited } = Bun.spawn([process.execPath, 'test', '--timeout', '60000', ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return (await exited) === 0;
}

const named = process.argv.slice(2);
if (named.length > 0) process.exit((await bunTest(named)) ? 0 : 1);

// What is imported stays for the next file of a worker: to import it anew for each would cost as much as many of them.
const together = ['--parallel=2', '--no-isolate', ...alone.map((path) => `--path-ignore-patterns=${path}`)];
const apart = alone.flatMap((path) => [...new Bun.Glob(path).scanSync(root)].toSorted());
const results = [await bunTest(together), await bunTest(apart.map((file) => `./${file}`))];
process.exit(results.every(Boolean) ? 0 : 1);
