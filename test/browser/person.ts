// A person with a real browser, beside programs that run under Bun: they go to addresses, fill forms and press buttons, and tell what
// they see.
import { join } from 'node:path';

export type Deed =
  | { readonly do: 'go'; readonly url: string }
  /** @property label or a part of it: the first that has it */
  | { readonly do: 'fill'; readonly label: string; readonly text: string }
  | { readonly do: 'uncheck'; readonly label: string }
  /** A button that leads to another page, or to this one anew. */
  | { readonly do: 'press'; readonly name: string }
  | { readonly do: 'follow'; readonly name: string };

export interface Seen {
  readonly url: string;
  readonly title: string;
  readonly text: string;
  /** What axe holds against the page. */
  readonly violations: readonly string[];
  /** What the browser complained of since the beginning. */
  readonly complaints: readonly string[];
}

export interface Person {
  /** One after the other; what is seen after the last. @throws Error where a page does not have what is asked for */
  does(...deeds: readonly Deed[]): Promise<Seen>;
  leave(): Promise<void>;
}

const node = join(import.meta.dir, '../../node_modules/.bin/node');

export function newPerson(): Person {
  const child = Bun.spawn([node, join(import.meta.dir, 'person-process.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const lines = linesOf(child.stdout);
  const one = async (deed: Deed): Promise<Seen> => {
    await child.stdin.write(`${JSON.stringify(deed)}\n`);
    const { value } = await lines.next();
    if (value === undefined) throw new Error(`The browser ended with ${await child.exited}.`);
    const answer = JSON.parse(value) as Seen | { failed: string };
    if ('failed' in answer) throw new Error(`${JSON.stringify(deed)}: ${answer.failed}`);
    return answer;
  };
  return {
    async does(...deeds) {
      let seen: Seen | undefined;
      for (const deed of deeds) seen = await one(deed);
      if (!seen) throw new Error('There is nothing to do.');
      return seen;
    },
    async leave() {
      await child.stdin.end();
      await child.exited;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}
