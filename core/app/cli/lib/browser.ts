// Opens pages in the browser of the user.
import { readBrowsers } from '../../config/config.ts';

/**
 * Starts a browser with the address as one argument, without a shell.
 * @param url of http or https, so that no program takes it for an option
 * @returns false if nothing could be started, and for other URLs
 */
export function openBrowser(url: string): boolean {
  if (!/^https?:\/\//.test(url)) return false;
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
    // The browser stays open after this terminal, in a session of its own, and writes nothing to it.
    Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'], detached: true }).unref();
    return true;
  } catch {
    return false;
  }
}
