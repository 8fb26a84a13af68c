// `tatami keys create`: a new API key for whoever has the data directory and no key. The server must be stopped, because a directory has
// one writer.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config.ts';
import { keyScopes, mintOwnerKey, workspacesOf } from '../setup/new-key.ts';
import { openOffline, type Offline } from '../setup/offline.ts';
import { usage } from './flags.ts';
import { CommandError, printResult } from './output.ts';

export interface KeysCreateOptions {
  dataDir?: string;
  workspace?: string;
  name: string;
  scopes?: string;
  json?: boolean;
}

/** @param folder where a relative data directory begins */
export async function keysCreate(options: KeysCreateOptions, folder: string): Promise<void> {
  const { dataDir: given, name, json } = options;
  const { dataDir, baseUrl, host, port } = readConfig(
    given === undefined ? {} : { dataDir: given },
    undefined,
    folder,
  );
  const scopes = scopesOf(options.scopes);
  if (name.trim() === '' || name.length > 80) throw usage('--name must have 1 to 80 characters.');
  // Opening would make one.
  if (!existsSync(join(dataDir, 'tatami.db')))
    throw new CommandError(
      `${dataDir} holds no database. Name the data directory of your server with --data-dir.`,
    );
  const offline = openOffline(dataDir, baseUrl ?? `http://${host}:${port}`, Date.now);
  try {
    const workspaceId = await chosen(offline, options.workspace);
    const key = await mintOwnerKey(offline, Date.now, { workspaceId, name, scopes });
    if (!key) throw new CommandError(`The workspace ${workspaceId} has no owner whom a key could act for.`);
    printResult({ workspaceId, id: key.id, name, scopes, key: key.text }, { json }, (shown) =>
      [
        `workspace ${shown.workspaceId}`,
        `id        ${shown.id}`,
        `key       ${shown.key}   (shown this once)`,
      ].join('\n'),
    );
  } finally {
    await offline.close();
  }
}

/** @throws CommandError */
function scopesOf(list: string | undefined): readonly string[] {
  if (list === undefined) return keyScopes;
  const scopes = list.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !keyScopes.includes(scope));
  if (unknown !== undefined)
    throw usage(`There is no scope "${unknown}". There are ${keyScopes.join(', ')}.`);
  return [...new Set(scopes)];
}

/** @throws CommandError where none is named and there are several, or the one named is not there */
async function chosen({ store }: Offline, wanted: string | undefined): Promise<string> {
  const workspaces = await workspacesOf(store);
  const [only] = workspaces;
  if (wanted === undefined && only && workspaces.length === 1) return only.id;
  if (wanted !== undefined && workspaces.some(({ id }) => id === wanted)) return wanted;
  const names = workspaces.map(({ id, name }) => `${id} (${name})`).join(', ') || 'none';
  throw new CommandError(
    wanted === undefined
      ? `Name the workspace with --workspace. There are: ${names}.`
      : `There is no workspace ${wanted}. There are: ${names}.`,
  );
}
