// `tatami init`: makes a data directory with a workspace, its first team and a key, without serving it.
import { readConfig } from '../config.ts';
import { createWorkspace, hasWorkspace, type FirstWorkspace } from '../identity/workspace/first-workspace.ts';
import { createLog } from '../lib/log.ts';
import { serve } from '../serve.ts';
import { CommandError, printResult } from './output.ts';

export interface InitOptions {
  dataDir?: string;
  workspace: string;
  team: string;
  add?: boolean;
  json?: boolean;
}

/** The plugin that every new workspace has. */
export const firstPlugin = 'auto-triage';

export async function init(options: InitOptions): Promise<void> {
  if (!/^[A-Z][A-Z0-9]{0,9}$/.test(options.team))
    throw new CommandError(`--team must be a key such as ENG, not "${options.team}".`, 2);
  const log = createLog({
    write: (line) => void process.stderr.write(line),
    nowMs: Date.now,
    pretty: false,
    level: 'warn',
  });
  const config = readConfig({
    port: '0',
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
  });
  const tatami = await serve({ config, log });
  let made: FirstWorkspace;
  try {
    if (options.add !== true && (await hasWorkspace(tatami.services.store)))
      throw new CommandError(`${config.dataDir} has a workspace already. Add another one with --add.`);
    made = await createWorkspace(tatami.services, tatami.committer, {
      name: options.workspace,
      teamKey: options.team,
      teamName: options.team,
      ownerName: 'Owner',
    });
    await tatami.installFirstParty(made.workspaceId, firstPlugin);
  } finally {
    await tatami.stop();
  }
  printResult(
    made,
    options,
    () =>
      `workspace ${made.workspaceId}\nteam      ${made.teamKey}\nkey       ${made.apiKey}   (shown this once)`,
  );
}
