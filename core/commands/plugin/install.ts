// `tatami plugin install FILE|NAME`: shows what the plugin asks for, then installs and grants it.
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parsePackage, type PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { printableCopy } from '../../lib/printable.ts';
import { consentLines } from '../../plugins/consent.ts';
import { firstPartyNames, packFirstParty } from '../../plugins/first-party.ts';
import { ask, CommandError, exitCodes, printResult, say } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';

interface Install {
  id: string;
  pluginId: string;
  pluginVersion: string;
}

/** @param folder where the path of a package file begins */
export async function install(
  source: string,
  options: RemoteOptions & { yes?: boolean },
  folder: string,
): Promise<void> {
  const call = connect(options);
  const document = await read(source, folder);
  for (const line of consentLines(printableCopy(document.manifest))) say(line);
  if (options.yes !== true) await confirm();
  const made = await call<Install>('POST', '/plugins', {
    package: document,
    grant: Object.keys(document.manifest.scopes ?? {}),
  });
  printResult(made, options, (shown) => `${shown.pluginId} ${shown.pluginVersion} installed as ${shown.id}`);
}

/** A bare name is a plugin that comes with Tatami, whatever file of that name lies about; everything else is a file. */
async function read(source: string, folder: string): Promise<PluginPackage> {
  const file = resolve(folder, source);
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  if (/[./\\]/.test(source)) {
    if (!isFile) throw new CommandError(`There is no file ${source}. Make it with \`tatami plugin pack\`.`);
    return parsePackage(readFileSync(file, 'utf8'));
  }
  const hint = isFile ? ` The file of that name is ./${source}.` : '';
  if (!firstPartyNames().includes(source))
    throw new CommandError(
      `There is no first-party plugin ${source}; there are ${firstPartyNames().join(', ')}.${hint}`,
    );
  if (isFile) say(`${source} is the plugin that comes with Tatami.${hint}`);
  return packFirstParty(source);
}

async function confirm(): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CommandError('Nobody can be asked here: grant this with --yes.', exitCodes.usage);
  ask('Install and grant? [y/N] ');
  for await (const answer of createInterface({ input: process.stdin })) {
    if (/^y(es)?$/i.test(answer.trim())) return;
    break;
  }
  throw new CommandError('Nothing was installed.');
}
