// Runs a program of this folder under Node, which Playwright needs, and returns its output, one JSON value.
import { join } from 'node:path';

const node = join(import.meta.dir, '../../node_modules/.bin/node');

/** @param program a file of this folder @throws Error if it fails; the cause is in the test output */
export async function runInNode<T>(program: string, args: readonly string[]): Promise<T> {
  const child = Bun.spawn([node, join(import.meta.dir, program), ...args], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (code !== 0) throw new Error(`${program} ended with ${code}.`);
  return JSON.parse(text) as T;
}
