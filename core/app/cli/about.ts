// `tatami version` and `tatami health`: the build, and the state of a server for containers and supervisors.
import { embedded } from '../../platform/lib/process/embedded.ts';
import { version as number } from '../version.ts';
import { CommandError, exitCodes, printResult } from './lib/output.ts';
import { readRemote } from '../config/config.ts';
import { printableCopy } from '../../platform/lib/text/printable.ts';

/** With `verify`, also verifies the files that the executable has unpacked. */
export function version({ json, verify = false }: { json?: boolean; verify?: boolean }): void {
  const build = { version: number, bun: Bun.version };
  if (!verify) return printResult(build, { json }, () => number);
  if (!embedded)
    throw new CommandError(
      '--verify needs the executable. This installation runs from source.',
      exitCodes.usage,
    );
  const files = embedded.verify();
  printResult({ ...build, files }, { json }, (shown) =>
    [number, ...shown.files.map((path) => `verified ${path}`)].join('\n'),
  );
}

export interface HealthOptions {
  server?: string;
  /** Checks liveness instead of readiness. */
  live?: boolean;
  json?: boolean;
}

const timeoutMs = 4_000;

/** Needs no key, and exits with 0 or 1. */
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
