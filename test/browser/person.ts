// A person with a real browser, beside programs that run under Bun: they go to addresses, fill forms and press buttons, and tell what
// they see.
import { join } from 'node:path';
import { linesOf } from './lines.ts';

export type Deed =
  | { readonly do: 'go'; readonly url: string }
  /** @property label or a part of it: the first that has it */
  | { readonly do: 'fill'; readonly label: string; readonly text: string }
  | { readonly do: 'uncheck'; readonly label: string }
  /** A button that leads to another page, or to this one anew. */
  | { readonly do: 'press'; readonly name: string }
  | { readonly do: 'follow'; readonly name: string };

export interface PageSnapshot {
  readonly text: string;
  /** What axe holds against the page. */
  readonly violations: readonly string[];
  /** What the browser complained of since the beginning. */
  readonly complaints: readonly string[];
}

export interface Person {
  /** One after the other; what is seen after the last. @throws Error where a page does not have what is asked for */
  does(...deeds: readonly Deed[]): Promise<PageSnapshot>;
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
  return {
    async does(...deeds) {
      await child.stdin.write(`${JSON.stringify(deeds)}\n`);
      const { value } = await lines.next();
      if (value === undefined) throw new Error(`The browser ended with ${await child.exited}.`);
      const answer = JSON.parse(value) as PageSnapshot | { failed: string };
      if ('failed' in answer) throw new Error(`${JSON.stringify(deeds)}: ${answer.failed}`);
      return answer;
    },
    async leave() {
      await child.stdin.end();
      await child.exited;
    },
  };
}

/** By the link of an invitation, with an address of their own at acme.example. @returns what they see when their account is made */
export function joinBy(person: Person, link: string, name: string): Promise<PageSnapshot> {
  return person.does(
    { do: 'go', url: link },
    { do: 'fill', label: 'Name', text: name },
    { do: 'fill', label: 'E-mail', text: `${name.toLowerCase()}@acme.example` },
    { do: 'fill', label: 'Password', text: 'seven geese over the pond' },
    { do: 'press', name: 'Create account' },
  );
}
