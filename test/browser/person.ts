// Controls a browser process from tests under Bun: visits addresses, fills forms, presses buttons, and
// returns page snapshots.
import { join } from 'node:path';
import { linesOf } from './lines.ts';

export type Deed =
  | { readonly do: 'go'; readonly url: string }
  /** @property label part of a label; the first match is used */
  | { readonly do: 'fill'; readonly label: string; readonly text: string }
  | { readonly do: 'uncheck'; readonly label: string }
  /** Presses a button that loads a page. */
  | { readonly do: 'press'; readonly name: string }
  /** Presses a button of the web app, which loads no page, and waits for a text. */
  | { readonly do: 'click'; readonly name: string; readonly shows: string }
  | { readonly do: 'follow'; readonly name: string };

export interface PageSnapshot {
  readonly text: string;
  /** The axe violations of the page. */
  readonly violations: readonly string[];
  /** The browser errors since the start. */
  readonly complaints: readonly string[];
}

export interface Person {
  /**
   * Performs the actions in order, and returns the page after the last one. @throws Error if a page lacks a
   * requested element
   */
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

/**
 * Joins by an invitation link, with an address at acme.example.
 * @returns the page after the account is created
 */
export function joinBy(person: Person, link: string, name: string): Promise<PageSnapshot> {
  return person.does(
    { do: 'go', url: link },
    { do: 'fill', label: 'Name', text: name },
    { do: 'fill', label: 'E-mail', text: `${name.toLowerCase()}@acme.example` },
    { do: 'fill', label: 'Password', text: 'seven geese over the pond' },
    { do: 'press', name: 'Create account' },
  );
}
