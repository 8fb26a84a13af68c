// `tatami serve`: runs the server until it is stopped. With `--first-start`, as in `npm start`, an empty data directory gets a workspace.
import { readConfig, type Config } from '../config/config.ts';
import type { Flags } from '../config/settings.ts';
import { markFirstKeySeen, setUpDays } from '../setup/first-key.ts';
import { hasWorkspace, type FirstWorkspace } from '../setup/first-workspace.ts';
import { holdingsOf, type Holdings } from '../setup/find.ts';
import { endProcessOnBug } from '../../platform/lib/errors/failures.ts';
import { serve as startServer, type Tatami } from '../serve/serve.ts';
import { version } from '../version.ts';
import { finishWorkspace, makeWorkspace, type CreatedWorkspace } from './init.ts';
import { CommandError, exitCodes, logHere, printResult, say } from './lib/output.ts';
import { join, resolve } from 'node:path';
import { counted } from '../../platform/lib/text/words.ts';
import { quoted } from '../../platform/lib/text/printable.ts';
import { isExecutable, programName } from '../../platform/lib/process/own-program.ts';

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

interface StartFacts {
  readonly url: string;
  readonly metricsUrl?: string;
  readonly version: string;
  readonly dataDir: string;
  readonly newDataDir: boolean;
  readonly readyMs: number;
  /** Made by this start. */
  readonly workspace: FirstWorkspace | null;
  /** Why nothing can be written; null where it can. */
  readonly onlyToRead: string | null;
  /** Null where it cannot be read. */
  readonly holdings: Holdings | null;
}

function startBlock(started: StartFacts): string {
  const { url, holdings, workspace, onlyToRead } = started;
  const dataDir = resolve(started.dataDir);
  const isEmpty = holdings?.workspaces.length === 0;
  const lines = [
    `tatami  ${started.version}`,
    `data    ${dataDir} (${started.newDataDir ? 'new' : 'existing'})`,
    `key     ${join(dataDir, 'master.key')}   NOT in backups (tatami backup DIR): copy it to a safe place`,
    `listen  ${url}`,
    ...(started.metricsUrl === undefined ? [] : [`metrics ${started.metricsUrl}`]),
    `docs    ${url}/docs`,
    ...(holdings && !isEmpty ? [`content ${holdingsLine(holdings)}`] : []),
    '',
    ...(workspace ? firstSteps(url, workspace) : []),
    ...(onlyToRead === null
      ? isEmpty
        ? [noWorkspace(dataDir)]
        : waysToKeys(dataDir, workspace !== null)
      : [`READ ONLY  ${onlyToRead}`, 'Issues can be read. Writes, plugins and webhooks are disabled.']),
    '',
    `ready in ${started.readyMs} ms · Ctrl+C stops`,
  ];
  return lines.join('\n');
}

/** Returns instructions for a data directory without a workspace. */
function noWorkspace(dataDir: string): string {
  return [
    'The data directory has no workspace, so no API key works. Stop the server and create one:',
    `  ${programName} init --data-dir ${quoted(resolve(dataDir))} --workspace Acme --team ENG`,
    `Or start with --first-start${isExecutable ? '' : ', as `npm start` does'}, to create a workspace for trying it out.`,
  ].join('\n');
}

const namedMax = 3;

function holdingsLine({ workspaces, plugins }: Holdings): string {
  return [namesOf(workspaces, 'workspace'), namesOf(plugins, 'plugin')].join('; ');
}

function namesOf(names: readonly string[], what: string): string {
  if (names.length === 0) return `no ${what}s`;
  const shown = [...names.slice(0, namedMax), ...(names.length > namedMax ? ['…'] : [])].join(', ');
  return `${counted(names.length, what)}: ${shown}`;
}

function waysToKeys(dataDir: string, isShown: boolean): string[] {
  const dir = quoted(dataDir);
  return [
    isShown
      ? 'Lost the key? It cannot be shown again. These commands also work while the server runs:'
      : 'API keys are shown only once. These commands also work while the server runs:',
    `  ${programName} keys create --data-dir ${dir}   creates another key`,
    `  ${programName} keys list --data-dir ${dir}     lists the keys and when each was last used`,
  ];
}

function firstSteps(
  url: string,
  { apiKey, teamKey, setUpUrl }: NonNullable<StartFacts['workspace']>,
): string[] {
  return [
    `Create your account with this link. It works once, within ${setUpDays} days:`,
    `  ${setUpUrl}`,
    '',
    `Your API key, shown only once:  ${apiKey}`,
    '',
    'Create an issue; the auto-triage plugin labels it:',
    `  curl ${url}/api/v1/issues -H 'Authorization: Bearer ${apiKey}' \\`,
    `    -H 'Content-Type: application/json' -d '{"team":"${teamKey}","title":"Crash when saving a file"}'`,
    'Show the issue:',
    `  curl '${url}/api/v1/issues?fields=identifier,title,labels' -H 'Authorization: Bearer ${apiKey}'`,
    '',
  ];
}
