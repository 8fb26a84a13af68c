// Runs a program of this folder under Node, which Playwright needs, and returns its output, one JSON value.
import { join } from 'node:path';

const node = join(import.meta.dir, '../../node_modules/.bin/node');

/** @param program a file of this folder @throws Error with the output of a program that fails */
export async function runInNode<T>(program: string, args: readonly string[]): Promise<T> {
  const child = Bun.spawn([node, join(import.meta.dir, program), ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const read = (stream: ReadableStream): Promise<string> => new Response(stream).text();
  const [text, errors, code] = await Promise.all([read(child.stdout), read(child.stderr), child.exited]);
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${errors}`);
  return JSON.parse(text) as T;
}
