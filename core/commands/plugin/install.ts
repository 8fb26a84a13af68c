// `tatami plugin install FILE|NAME`: shows what the plugin asks for, or asks for otherwise than the version that is installed, then
// installs and grants it.
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Call } from '../../../sdk/client/call.ts';
import { ApiCallError } from '../../../sdk/client/index.ts';
import { parsePackage, type PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { printableCopy } from '../../lib/printable.ts';
import { consentLines } from '../../plugins/consent.ts';
import { firstPartyNames, packFirstParty } from '../../plugins/first-party.ts';
import { placeText } from '../../plugins/source-places.ts';
import { upgradeLines, type Installed } from '../../plugins/upgrade.ts';
import { ask, CommandError, exitCodes, printResult, say } from '../output.ts';
import { wholeNumber } from '../flags.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { placeOfDetail } from './author-error.ts';
import { readSettings } from './settings.ts';
import { readSignature, signatureFile } from './sign.ts';
import { showGate } from './backtest.ts';

interface Install {
  id: string;
  pluginId: string;
  pluginVersion: string;
  probation: { runsLeft: number } | null;
}

export interface InstallOptions extends RemoteOptions {
  yes?: boolean;
  downgrade?: boolean;
  mode?: string;
  settings?: string;
  /** False: `--no-probation`. */
  probation?: boolean;
  replace?: boolean;
  signature?: string;
  /** Runs to look at; true where it is not said. */
  gate?: string | true;
}

/** @param folder where the path of a package file begins */
export async function install(source: string, options: InstallOptions, folder: string): Promise<void> {
  const call = connect(options);
  const document = await read(source, folder);
  const manifest = printableCopy(document.manifest);
  const installed = await findInstalled(call, document.manifest.id);
  if (installed && options.downgrade !== true) refuseDowngrade(document, installed);
  for (const line of askedLines({ ...document, manifest }, installed)) say(line);
  if (installed && options.gate !== undefined) say(await gateOf(call, document, installed, options.gate));
  const asked = askedOf(source, document, options, folder);
  if (options.yes !== true) {
    say(`sha256 ${document.sha256}`);
    await confirm('Nothing was installed.');
  }
  const made = await call<Install>('POST', '/plugins', asked).catch((error: unknown) => {
    throw inWords(error, document, options);
  });
  printResult(made, options, installedLine);
}

/** The body of the request: what is left out is as the server has it. */
function askedOf(source: string, document: PluginPackage, options: InstallOptions, folder: string): object {
  const { downgrade, replace, mode, probation, settings } = options;
  return {
    ...{ package: document, grant: Object.keys(document.manifest.scopes ?? {}) },
    ...{ downgrade, replace, mode },
    ...(probation === false ? { probation } : {}),
    ...(settings === undefined ? {} : { settings: readSettings(settings, folder) }),
    ...signatureOf(source, options, folder),
    // Whoever goes on has seen what it is.
    sha256: document.sha256,
  };
}

/** Beside the package file, as `tatami plugin sign` writes it, unless it is elsewhere. */
function signatureOf(source: string, { signature }: InstallOptions, folder: string): object {
  const file = resolve(folder, signature ?? signatureFile(source));
  if (signature === undefined && statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return {};
  return { signature: readSignature(file) };
}

function installedLine({ pluginId, pluginVersion, id, probation }: Install): string {
  const line = `${pluginId} ${pluginVersion} installed as ${id}`;
  if (!probation) return line;
  return `${line}\n  on probation: it only proposes what its next ${probation.runsLeft} runs would write (--no-probation to trust it at once)`;
}

function askedLines(document: PluginPackage, installed: Installed | null): string[] {
  return installed ? upgradeLines(document, printableCopy(installed)) : consentLines(document.manifest);
}

function gateOf(
  call: Call,
  document: PluginPackage,
  { pluginVersion }: Installed,
  given: string | true,
): Promise<string> {
  const runs = given === true ? 20 : wholeNumber('--gate', given, 1, 200);
  return showGate(call, { pluginId: document.manifest.id, pluginVersion }, { package: document, runs });
}

async function findInstalled(call: Call, pluginId: string): Promise<Installed | null> {
  try {
    const path = `/plugins/${encodeURIComponent(pluginId)}`;
    const [install, actions, routes] = await Promise.all([
      call<Installed>('GET', path),
      call<{ data: { name: string }[] }>('GET', `${path}/actions`),
      call<{ data: Installed['routes'] }>('GET', `${path}/routes`),
    ]);
    return { ...install, actions: actions.data.map(({ name }) => name), routes: routes.data };
  } catch (error) {
    if (error instanceof ApiCallError && error.status === 404) return null;
    throw error;
  }
}

function refuseDowngrade({ manifest }: PluginPackage, { pluginVersion }: Installed): void {
  if (Bun.semver.order(manifest.version, pluginVersion) < 0)
    throw new CommandError(
      `${manifest.id} ${pluginVersion} is installed, which is newer than ${manifest.version}. Add --downgrade to go back.`,
    );
}

/**
 * What the server refuses, for whom it is to mend: of the manifest the author's lines, of the settings the flag.
 * The first detail is what the message is about; it is told where that begins, so that it is not told again below it.
 */
function inWords(error: unknown, document: PluginPackage, { settings }: InstallOptions): unknown {
  if (!(error instanceof ApiCallError)) return error;
  const { status, code, details } = error;
  const places = details.map(({ path }) => placeOfDetail(document, path));
  const [first] = places;
  const isOfSettings = details.some(({ path }) => /^settings(\.|$)/.test(path));
  const hint =
    isOfSettings && settings === undefined ? ' Give all settings with --settings FILE, as JSON.' : '';
  return new ApiCallError(status, {
    code,
    message: `${first ? `${placeText(first)}: ` : ''}${error.message}${hint}`,
    details: details.map((detail, index) => {
      const place = index > 0 && places[index];
      return place ? { ...detail, path: `${placeText(place)}: ${detail.path}` } : detail;
    }),
    cause: error,
  });
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

export async function confirm(otherwise: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CommandError('Nobody can be asked here: grant this with --yes.', exitCodes.usage);
  ask('Install and grant? [y/N] ');
  for await (const answer of createInterface({ input: process.stdin })) {
    if (/^y(es)?$/i.test(answer.trim())) return;
    break;
  }
  throw new CommandError(otherwise);
}
