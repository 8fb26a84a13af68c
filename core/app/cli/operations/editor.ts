// Reads a text from the editor of the user, and a secret from a prompt.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEditor } from '../../config/config.ts';
import { usage } from '../lib/flags.ts';
import { takeInterrupts } from '../lib/interrupts.ts';
import { CommandError, say } from '../lib/output.ts';
import { askHidden } from '../lib/question.ts';

/** Saves a text that could not be sent, so that nobody writes it again. */
export function saveDraft(flag: string, text: string): void {
  const path = join(mkdtempSync(join(tmpdir(), 'tatami-')), `${flag}.md`);
  writeFileSync(path, text, { mode: 0o600 });
  say(`Your text is saved. Send it with --${flag} @${path}.`);
}

/**
 * @param text shown at first
 * @param mustChange true if the text is stored already, or empty
 * @returns the saved text
 * @throws CommandError if the editor fails, or the text should have changed
 */
export async function edited(flag: string, text: string, mustChange: boolean): Promise<string> {
  const editor = readEditor();
  if (editor === null)
    throw usage(`There is no editor for --${flag}. Set VISUAL or EDITOR, such as EDITOR=nano.`);
  const folder = mkdtempSync(join(tmpdir(), 'tatami-'));
  const path = join(folder, `${flag}.md`);
  try {
    writeFileSync(path, text, { mode: 0o600 });
    // An editor may have arguments: `code --wait`. The trap keeps the shell until the editor ends, also after Ctrl-C.
    const child = Bun.spawn(['sh', '-c', `trap : INT; ${editor} "$1"`, 'sh', path], {
      stdio: ['inherit', 'inherit', 'inherit'],
    });
    // The terminal interrupts the editor as well, which decides.
    const release = takeInterrupts(() => undefined, 'on');
    const code = await child.exited.finally(release);
    if (code !== 0) throw new CommandError(`${editor} failed, so nothing was sent.`);
    const saved = readFileSync(path, 'utf8').replace(/\n$/, '');
    if (mustChange && saved === text)
      throw new CommandError('The text was not changed, so nothing was sent.');
    return saved;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Reads a secret from standard input or a hidden prompt, because arguments appear in the history of the shell and in lists of
 * processes.
 */
export async function readSecret(name: string): Promise<string> {
  const value = process.stdin.isTTY
    ? await askHidden(`${name} (hidden): `)
    : (await Bun.stdin.text()).replace(/\r?\n$/, '');
  if (value !== '') return value;
  throw usage(`The ${name} is empty. Pass it on standard input, such as \`… < FILE\`.`);
}
