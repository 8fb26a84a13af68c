// Message printed when the server is ready: addresses, content, keys and first steps.
import { join, resolve } from 'node:path';
import { counted } from '../../platform/lib/text/words.ts';
import { quoted } from '../../platform/lib/text/printable.ts';
import { isExecutable, programName } from '../../platform/lib/process/own-program.ts';
import { setUpDays } from '../setup/first-key.ts';
import type { FirstWorkspace } from '../setup/first-workspace.ts';
import type { Holdings } from '../setup/find.ts';

export interface StartFacts {
  readonly url: string;
  readonly metricsUrl?: string;
  readonly version: string;
  readonly dataDir: string;
  readonly newDataDir: boolean;
  readonly readyMs: number;
  /** Made by this start. */
  readonly workspace: Pick<FirstWorkspace, 'apiKey' | 'teamKey' | 'setUpUrl'> | null;
  /** Why nothing can be written; null where it can. */
  readonly onlyToRead: string | null;
  /** Null where it cannot be read. */
  readonly holdings: Holdings | null;
}

export function startBlock(started: StartFacts): string {
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
export function noWorkspace(dataDir: string): string {
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
