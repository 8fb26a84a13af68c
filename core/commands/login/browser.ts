// Opens an address in the person's browser: a program is started with the address as one argument, never by a shell.
import { readBrowsers } from '../../config.ts';

/** @param url of http or https, so that no program takes it for an option. @returns false where nothing could be started */
export function openBrowser(url: string): boolean {
  for (const browser of readBrowsers()) {
    const words = browser.trim().split(/\s+/);
    const command = words.includes('%s')
      ? words.map((word) => (word === '%s' ? url : word))
      : [...words, url];
    if (start(command)) return true;
  }
  return false;
}

function start(command: string[]): boolean {
  try {
    // The browser is detached and writes nothing to this terminal.
    Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref();
    return true;
  } catch {
    return false;
  }
}
