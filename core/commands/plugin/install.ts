// `tatami plugin install FILE|NAME`: shows what the plugin asks for, then installs and grants it.
import { readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parsePackage, type PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { consentLines } from '../../plugins/consent.ts';
import { packFirstParty } from '../../plugins/first-party.ts';
import { CommandError, exitCodes, printResult, say } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';

interface Install {
  id: string;
  pluginId: string;
  pluginVersion: string;
}

export async function install(source: string, options: RemoteOptions & { yes?: boolean }): Promise<void> {
  const call = connect(options);
  const document = await read(source);
  for (const line of consentLines(document.manifest)) say(line);
  if (options.yes !== true) await confirm();
  const made = await call<Install>('POST', '/plugins', {
    package: document,
    grant: Object.keys(document.manifest.scopes ?? {}),
  });
  printResult(made, options, () => `${made.pluginId} ${made.pluginVersion} installed as ${made.id}`);
}

/** A file, if there is one; else the name of a plugin that comes with Tatami. */
async function read(source: string): Promise<PluginPackage> {
  if (statSync(source, { throwIfNoEntry: false })?.isFile())
    return parsePackage(readFileSync(source, 'utf8'));
  if (/[./\\]/.test(source))
    throw new CommandError(`There is no file ${source}. Make it with \`tatami plugin pack\`.`);
  return packFirstParty(source);
}

async function confirm(): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CommandError('Nobody can be asked here: grant this with --yes.', exitCodes.usage);
  process.stderr.write('Install and grant? [y/N] ');
  for await (const answer of createInterface({ input: process.stdin })) {
    if (/^y(es)?$/i.test(answer.trim())) return;
    break;
  }
  throw new CommandError('Nothing was installed.');
}
