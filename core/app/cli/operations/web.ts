// Opens the page of a list or an object in a browser, for `--web`.
import { printable } from '../../../platform/lib/text/printable.ts';
import type { Call } from '../../../../sdk/client/index.ts';
import { openBrowser } from '../lib/browser.ts';
import { CommandError, isTerminal, printResult, say } from '../lib/output.ts';
import { pathWithQuery } from '../lib/pages.ts';
import type { Remote } from '../lib/remote.ts';
import type { Given } from './input.ts';
import type { Request } from './send.ts';
import { pages } from './table/shortcuts.ts';

/** Opens the page if a person uses the command and has a browser; otherwise prints its URL. */
export async function openPage(
  { operation, options }: Given,
  request: Request,
  { remote, call }: { readonly remote: Remote; readonly call: Call },
): Promise<void> {
  const page = pages[operation.id] ?? '';
  const url = page.startsWith('/')
    ? pathWithQuery(remote.server.replace(/\/+$/, '') + page, request.query)
    : urlOf(await call('GET', request.path), page);
  const full = withWorkspace(url, remote);
  if (options.json !== true && isTerminal() && openBrowser(full))
    return say(printable(`Opened ${full} in your browser.`));
  printResult({ url: full }, options, (shown) => shown.url);
}

/** @throws CommandError if the server sent no URL */
function urlOf(object: Readonly<Record<string, unknown>>, field: string): string {
  const url = object[field];
  if (typeof url === 'string' && URL.canParse(url)) return url;
  throw new CommandError(
    'The server sent no URL of a page. Update the server, or run the command without --web.',
  );
}

/** A person may be a member of several workspaces, and a login is for one. */
function withWorkspace(url: string, { access }: Remote): string {
  if (access === null) return url;
  const full = new URL(url);
  full.searchParams.set('workspace', access.current().workspace.id);
  return full.href;
}
