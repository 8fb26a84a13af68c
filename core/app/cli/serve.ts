// `tatami serve`: runs the server until it is told to stop. With `--first-start` (what `npm start` does) an empty data
// directory gets its first workspace.
import { readConfig, type Config } from '../config/config.ts';
import type { Flags } from '../config/settings.ts';
import { markFirstKeySeen } from '../setup/first-key.ts';
import { hasWorkspace } from '../setup/first-workspace.ts';
import { holdingsOf } from '../setup/find.ts';
import { endProcessOnBug } from '../../platform/lib/errors/failures.ts';
import { serve as startServer, type Tatami } from '../serve/serve.ts';
import { version } from '../version.ts';
import { finishWorkspace, makeWorkspace, type CreatedWorkspace } from './first-workspace.ts';
import { CommandError, exitCodes, logHere, printResult, say } from './lib/output.ts';
import { noWorkspace, startBlock } from './start-block.ts';

/** Clients that are in the middle of something ask again within this time, on this machine or through a proxy in front of it. */
const quietMs = 200;

export interface ServeFlags extends Flags {
  firstStart?: boolean;
  json?: boolean;
}

/** @param folder where relative paths of the configuration begin */
export async function serve(
  { firstStart = false, json = false, ...flags }: ServeFlags,
  folder: string,
): Promise<void> {
  const startedMs = performance.now();
  const config = readConfig(flags, undefined, folder);
  const log = logHere(config.logLevel);
  endProcessOnBug(log);
  const tatami = await startServer({ config, log }).catch((error: unknown) => {
    throw listenProblem(error, config) ?? error;
  });
  const stopped = untilStopped(tatami);
  const status = tatami.services.store.status();
  const made = status.writable
    ? ((await finishWorkspace(tatami)) ?? (firstStart ? await firstWorkspace(tatami) : null))
    : null;
  const ready = {
    url: tatami.url,
    ...(tatami.metricsUrl === null ? {} : { metricsUrl: tatami.metricsUrl }),
    version,
    dataDir: config.dataDir,
    readyMs: Math.round(performance.now() - startedMs),
  };
  const holdings = await holdingsOf(tatami.services.store);
  if (json && holdings?.workspaces.length === 0) say(noWorkspace(config.dataDir));
  const { newDataDir } = tatami;
  printResult({ ...ready, ...made?.workspace }, { json }, () =>
    startBlock({
      ...ready,
      newDataDir,
      holdings,
      workspace: made?.workspace ?? null,
      onlyToRead: status.writable
        ? null
        : (status.reason ?? 'The database cannot be written. See the log for the reason.'),
    }),
  );
  if (made) await markFirstKeySeen(tatami.services.store, made.workspace.workspaceId);
  await stopped;
}

async function firstWorkspace(tatami: Tatami): Promise<CreatedWorkspace | null> {
  return (await hasWorkspace(tatami.services.store))
    ? null
    : makeWorkspace(tatami, { name: 'My workspace', teamKey: 'ENG', teamName: 'Engineering' });
}

function listenProblem(error: unknown, { host, port }: Config): CommandError | null {
  if (!(error instanceof Error) || !('code' in error && 'syscall' in error)) return null;
  const nowhere = `Cannot listen on ${host}: it is not an address or a name of this machine. Choose another with --host.`;
  // Files have the same codes.
  const messages: Readonly<Record<string, string>> = {
    'listen EADDRINUSE': `Port ${port} of ${host} is in use. Choose another with --port, or 0 for a free one.`,
    'listen EACCES': `This user may not listen on port ${port}. Choose another with --port.`,
    'listen EADDRNOTAVAIL': nowhere,
    'listen ENOENT': nowhere,
    'getaddrinfo ENOTFOUND': nowhere,
  };
  const message = messages[`${String(error.syscall)} ${String(error.code)}`];
  return message === undefined ? null : new CommandError(message, exitCodes.failed, { cause: error });
}

/** Whoever signals a process and then its group signals it twice, and means it once. */
const sameSignalMs = 500;

/** The first signal drains, a later one ends at once. */
function untilStopped(tatami: Tatami): Promise<void> {
  return new Promise((resolve, reject) => {
    let stoppingMs: number | null = null;
    const stop = (): void => {
      if (stoppingMs !== null) {
        if (performance.now() - stoppingMs > sameSignalMs) process.exit(exitCodes.interrupted);
        return;
      }
      stoppingMs = performance.now();
      say('stopping: finishing requests in flight');
      tatami.stop({ quietMs }).then(resolve, reject);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}
