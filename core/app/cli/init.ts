// `tatami init`: creates a data directory with a workspace, its first team and a key, without serving it. The first start of
// `tatami serve` creates its workspace here too.
import { finishFirstStart, markFirstKeySeen } from '../setup/first-key.ts';
import { createWorkspace, type FirstWorkspace, hasWorkspace } from '../setup/first-workspace.ts';
import { type Tatami, serve } from '../serve/serve.ts';
import { say, CommandError, exitCodes, logHere, printResult } from './lib/output.ts';
import { addressOf, readConfig, type Config } from '../config/config.ts';
import { endProcessOnBug } from '../../platform/lib/errors/failures.ts';
import { teamKeyPattern } from '../../platform/lib/ids.ts';
import { inOneLine } from '../../platform/lib/text/printable.ts';

const firstPlugin = 'auto-triage';

export interface CreatedWorkspace {
  readonly workspace: FirstWorkspace;
  /** False if the plugin could not be installed, which was reported. The workspace and its only key exist in either case. */
  readonly complete: boolean;
}

/** Creates the first workspace. Its key counts as shown once `markFirstKeySeen` was called. */
export async function makeWorkspace(
  tatami: Tatami,
  input: { name: string; teamKey: string; teamName: string },
): Promise<CreatedWorkspace> {
  const workspace = await createWorkspace(tatami.services, tatami.committer, {
    ...input,
    ownerName: 'Owner',
    isShownLater: true,
  });
  return { workspace, complete: await installFirst(tatami, workspace) };
}

/** Completes a first start that was killed before its key was shown; null if there is none. */
export async function finishWorkspace(tatami: Tatami): Promise<CreatedWorkspace | null> {
  const finished = await finishFirstStart(tatami.services, tatami.committer);
  if (!finished) return null;
  say('An earlier first start was interrupted before its key was shown. It is completed now with a new key.');
  const { workspace, hasPlugin } = finished;
  return { workspace, complete: hasPlugin || (await installFirst(tatami, workspace)) };
}

async function installFirst(tatami: Tatami, { workspaceId }: FirstWorkspace): Promise<boolean> {
  try {
    await tatami.installFirstParty(workspaceId, firstPlugin);
    return true;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    say(
      `${firstPlugin} could not be installed: ${why}\nInstall it later with \`tatami plugins install ${firstPlugin}\`.`,
    );
    return false;
  }
}

export interface InitOptions {
  dataDir?: string;
  workspace: string;
  team: string;
  port?: string;
  host?: string;
  baseUrl?: string;
  add?: boolean;
  json?: boolean;
}

/** @param folder where a relative data directory begins */
export async function init(
  { workspace, team, add = false, json, ...settings }: InitOptions,
  folder: string,
): Promise<void> {
  if (!new RegExp(teamKeyPattern).test(team))
    throw new CommandError(
      `--team must be a key such as ENG: 1 to 10 characters A–Z and 0–9, starting with a letter, not "${team}".`,
      exitCodes.usage,
    );
  if (inOneLine(workspace) === '') throw new CommandError('--workspace must not be empty.', exitCodes.usage);
  // The plugin is installed through the API, so the whole server runs for a moment.
  const planned = readConfig(settings, undefined, folder);
  // The link leads to the server that will be started.
  const flags = { ...settings, port: '0', host: '127.0.0.1', baseUrl: addressOf(planned) };
  const config = readConfig(flags, undefined, folder);
  const log = logHere('warn');
  endProcessOnBug(log);
  const tatami = await serve({ config, log });
  let made: CreatedWorkspace;
  try {
    const unfinished = add ? null : await finishWorkspace(tatami);
    if (!add && !unfinished && (await hasWorkspace(tatami.services.store)))
      throw new CommandError(`${config.dataDir} already has a workspace. Add another one with --add.`);
    made = unfinished ?? (await makeWorkspace(tatami, { name: workspace, teamKey: team, teamName: team }));
    const { workspaceId, teamKey, apiKey, setUpUrl } = made.workspace;
    printResult(made.workspace, { json }, () =>
      [
        `workspace ${workspaceId}`,
        `team      ${teamKey}`,
        `account   ${setUpUrl}   (${linkHint(planned)}; works once)`,
        `key       ${apiKey}   (shown only once)`,
      ].join('\n'),
    );
    await markFirstKeySeen(tatami.services.store, made.workspace.workspaceId);
  } finally {
    await tatami.stop();
  }
  if (!made.complete) process.exitCode = exitCodes.failed;
}

/** The link holds the address that the configuration names, which a server started with other settings does not have. */
function linkHint({ baseUrl, host, port }: Config): string {
  if (baseUrl !== null) return 'once the server runs';
  if (port === 0) return 'once the server runs; replace 0 with its port';
  return `once the server runs on port ${port} of ${host}`;
}
