// `tatami health`: asks a server whether it is ready, for the checks of containers and supervisors. It needs no key, and ends with 0
// or 1.
import { readRemote } from '../config/config.ts';
import { printableCopy } from '../../platform/lib/text/printable.ts';
import { CommandError, printResult } from './lib/output.ts';

export interface HealthOptions {
  server?: string;
  /** Checks liveness instead of readiness. */
  live?: boolean;
  json?: boolean;
}

const timeoutMs = 4_000;

export async function health({ live = false, json, ...flags }: HealthOptions): Promise<void> {
  const { server } = readRemote(flags);
  const path = live ? '/healthz' : '/readyz';
  const { ok, text } = await ask(server, path);
  const found: unknown = parsed(text);
  if (!ok)
    throw new CommandError(
      `${server} is not ${live ? 'live' : 'ready'}. See the log of the server. Its response is ${JSON.stringify(printableCopy(found))}`,
    );
  printResult(found, { json }, (shown) => JSON.stringify(shown));
}

async function ask(server: string, path: string): Promise<{ ok: boolean; text: string }> {
  const url = `${server.replace(/\/+$/, '')}${path}`;
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    return { ok: response.status === 200, text: await response.text() };
  } catch (cause) {
    throw new CommandError(`No server responds at ${server}. Start it, or check the address.`, undefined, {
      cause,
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, 200);
  }
}
