// What a person sees when the server is ready: where everything is, and what to try first.
import { join, resolve } from 'node:path';

export interface Started {
  readonly url: string;
  readonly metricsUrl?: string;
  readonly version: string;
  readonly dataDir: string;
  readonly newDataDir: boolean;
  readonly readyMs: number;
  /** Started to be tried out, so say what to do next. */
  readonly firstStart: boolean;
  /** Made by this start. */
  readonly workspace: { readonly apiKey: string; readonly teamKey: string } | null;
}

export function startBlock(started: Started): string {
  const { url, dataDir } = started;
  const lines = [
    `tatami  ${started.version}`,
    `data    ${resolve(dataDir)} (${started.newDataDir ? 'new' : 'existing'})`,
    `key     ${join(resolve(dataDir), 'master.key')}   NOT in backups (tatami backup DIR): copy it somewhere safe`,
    `listen  ${url}`,
    ...(started.metricsUrl === undefined ? [] : [`metrics ${started.metricsUrl}`]),
    `docs    ${url}/docs`,
  ];
  if (started.workspace) lines.push('', ...firstSteps(url, started.workspace));
  else if (started.firstStart) lines.push('', ...laterStart(url, dataDir));
  return [...lines, '', `ready in ${started.readyMs} ms · Ctrl+C stops`].join('\n');
}

function firstSteps(url: string, { apiKey, teamKey }: { apiKey: string; teamKey: string }): string[] {
  return [
    `Your API key, shown this once:  ${apiKey}`,
    '',
    'Create an issue; the auto-triage plugin labels it:',
    `  curl ${url}/api/v1/issues -H 'Authorization: Bearer ${apiKey}' \\`,
    `    -H 'Content-Type: application/json' -d '{"team":"${teamKey}","title":"Crash when saving a file"}'`,
    'Look at it:',
    `  curl '${url}/api/v1/issues?fields=identifier,title,labels' -H 'Authorization: Bearer ${apiKey}'`,
  ];
}

function laterStart(url: string, dataDir: string): string[] {
  return [
    'The API key was shown at the first start and is kept nowhere. Mint another with one you have:',
    `  curl ${url}/api/v1/api-keys -H "Authorization: Bearer $TATAMI_TOKEN" \\`,
    `    -H 'Content-Type: application/json' -d '{"name":"second","scopes":["issues:write"]}'`,
    `None left? Stop the server and make one: bin/tatami keys create --data-dir ${resolve(dataDir)}`,
  ];
}
