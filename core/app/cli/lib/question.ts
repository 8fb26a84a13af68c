// Questions to the person at the terminal.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { usage } from './flags.ts';
import { ask, CommandError, exitCodes, say } from './output.ts';

/** @param verb what `--yes` does: `confirm` or `grant` @throws CommandError if nobody can be asked */
export function requireTerminal(verb: 'confirm' | 'grant'): void {
  if (!process.stdin.isTTY) throw usage(`There is no terminal to confirm this. Add --yes to ${verb} it.`);
}

/** @param question such as `Delete a label: bug?` @throws CommandError if it is declined, or cannot be asked */
export async function confirm(
  question: string,
  {
    verb = 'confirm',
    otherwise = 'Nothing was changed.',
  }: { verb?: 'confirm' | 'grant'; otherwise?: string } = {},
): Promise<void> {
  requireTerminal(verb);
  if (!(await isConfirmed(question))) throw new CommandError(otherwise);
}

/** @returns true for `y` and `yes` */
async function isConfirmed(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin });
  ask(`${question} [y/N] `);
  try {
    for await (const answer of lines) return /^y(es)?$/i.test(answer.trim());
    return false;
  } finally {
    // An open terminal would prevent the process from ending.
    lines.close();
  }
}

/** Returns a line that is not shown while it is typed; empty at the end of the input. @throws CommandError at an interrupt */
export async function askHidden(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Before the question, because the terminal shows what is typed until then.
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  ask(question);
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(''));
      lines.once('SIGINT', () => reject(new CommandError('Interrupted.', exitCodes.interrupted)));
    });
  } finally {
    lines.close();
    say('');
  }
}
