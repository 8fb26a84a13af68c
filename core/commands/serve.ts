// `tatami serve`: runs the server until it is told to stop. With `--first-start` (what `npm start` does) an empty data
// directory gets its first workspace.
import { readConfig, type Flags } from '../config.ts';
import { createWorkspace, hasWorkspace } from '../identity/workspace/first-workspace.ts';
import { createLog } from '../lib/log.ts';
import { serve as startServer, type Tatami } from '../serve.ts';
import { version } from '../version.ts';
import { firstPlugin } from './init.ts';
import { CommandError, exitCodes, say } from './output.ts';

export interface ServeFlags extends Flags {
  firstStart?: boolean;
  json?: boolean;
}

export async function serve({ firstStart = false, json = false, ...flags }: ServeFlags): Promise<void> {
  const startedMs = performance.now();
  const config = readConfig(flags);
  const log = createLog({
    write: (line) => void process.stderr.write(line),
    nowMs: Date.now,
    pretty: process.stderr.isTTY,
    level: config.logLevel,
  });
  const tatami = await startServer({ config, log }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      throw new CommandError(
        `Port ${config.port} of ${config.host} is taken. Choose another with --port, or 0 for a free one.`,
      );
    throw error;
  });
  const stopped = untilStopped(tatami);
  const first = firstStart ? await makeFirstWorkspace(tatami) : null;
  const readyMs = Math.round(performance.now() - startedMs);
  if (json)
    process.stdout.write(
      `${JSON.stringify({ url: tatami.url, version, dataDir: config.dataDir, readyMs, ...first })}\n`,
    );
  else process.stdout.write(`${welcome(tatami.url, config.dataDir, readyMs, firstStart, first)}\n`);
  await stopped;
}

interface First {
  apiKey: string;
  teamKey: string;
}

async function makeFirstWorkspace(tatami: Tatami): Promise<First | null> {
  if (await hasWorkspace(tatami.services.store)) return null;
  const made = await createWorkspace(tatami.services, tatami.committer, {
    name: 'My workspace',
    teamKey: 'ENG',
    teamName: 'Engineering',
    ownerName: 'Owner',
  });
  await tatami.installFirstParty(made.workspaceId, firstPlugin);
  return { apiKey: made.apiKey, teamKey: made.teamKey };
}

function welcome(
  url: string,
  dataDir: string,
  readyMs: number,
  firstStart: boolean,
  first: First | null,
): string {
  const lines = [
    `tatami ${version}`,
    `listen  ${url}`,
    `docs    ${url}/docs`,
    `data    ${dataDir}   (its master.key is in no backup of the database: keep a copy)`,
  ];
  if (first)
    lines.push(
      '',
      `Your key, shown this once:  ${first.apiKey}`,
      '',
      'Create an issue; the auto-triage plugin labels it:',
      `  curl ${url}/api/v1/issues -H 'Authorization: Bearer ${first.apiKey}' \\`,
      `    -H 'Content-Type: application/json' -d '{"team":"${first.teamKey}","title":"Crash when saving a file"}'`,
      'Then look at it:',
      `  curl '${url}/api/v1/issues?fields=identifier,title,labels' -H 'Authorization: Bearer ${first.apiKey}'`,
    );
  else if (firstStart)
    lines.push(
      '',
      'The workspace exists already. Lost its key? `bun core/main.ts init --add` makes another workspace.',
    );
  lines.push('', `ready in ${readyMs} ms, Ctrl+C stops`);
  return lines.join('\n');
}

/** The first signal drains, a second one ends at once. */
function untilStopped(tatami: Tatami): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopping = false;
    const stop = (): void => {
      if (stopping) process.exit(exitCodes.interrupted);
      stopping = true;
      say('stopping');
      tatami.stop().then(resolve, reject);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}
