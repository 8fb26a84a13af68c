// `tatami plugin install FILE|NAME`: shows what the plugin asks for, or asks for otherwise than the version that is installed, then
// installs and grants it.
import { createInterface } from 'node:readline';
import type { Call } from '../../../../sdk/client/call.ts';
import { ApiCallError } from '../../../../sdk/client/index.ts';
import type { PluginPackage } from '../../../../sdk/plugin/manifest.ts';
import { printableCopy } from '../../../platform/lib/text/printable.ts';
import {
  consentLines,
  type Replaced,
  positionText,
  type Consent,
} from '../../../features/plugins/offline.ts';
import { ask, CommandError, exitCodes, printResult, say } from '../lib/output.ts';
import { wholeNumber } from '../lib/flags.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { locationOfDetail } from './author/author-error.ts';
import { readPackageInput, type PackageInput } from './author/package-input.ts';
import { missingSecrets, type WithSecrets } from './secrets/missing.ts';
import { readSettings } from './settings.ts';
import { probationLines, type PluginStatus } from './plugin-status.ts';
import { showGate } from './runs/backtest.ts';

interface Install extends WithSecrets, Pick<PluginStatus, 'probation'> {
  id: string;
  pluginVersion: string;
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

/** The body of the request. */
interface InstallRequest extends PackageInput {
  readonly sha256: string;
}

/** @param folder where the path of a package file begins */
export async function install(source: string, options: InstallOptions, folder: string): Promise<void> {
  const call = connect(options);
  const given = await readPackageInput(source, folder, options);
  const { package: document } = given;
  const asked = askedOf(given, options, folder);
  const worded = (error: unknown): never => {
    throw inWords(error, document, options);
  };
  const { installed, asked: asks } = await preview(call, asked).catch(worded);
  if (installed && options.downgrade !== true) refuseDowngrade(document, installed);
  for (const line of consentLines(document.manifest.id, asks, installed)) say(line);
  if (installed && options.gate !== undefined) say(await gateOf(call, given, installed, options.gate));
  if (options.yes !== true) await confirm('Nothing was installed.');
  const made = await call<Install>('POST', '/plugins', asked).catch(worded);
  printResult(made, options, installedLine);
}

/** The body of the request: what is left out is as the server has it. */
function askedOf(given: PackageInput, options: InstallOptions, folder: string): InstallRequest {
  const { package: document } = given;
  const { downgrade, replace, mode, probation, settings } = options;
  return {
    ...given,
    ...{ grant: Object.keys(document.manifest.scopes ?? {}) },
    ...{ downgrade, replace, mode },
    ...(probation === false ? { probation } : {}),
    ...(settings === undefined ? {} : { settings: readSettings(settings, folder) }),
    // Whoever goes on has seen what it is.
    sha256: document.sha256,
  };
}

function installedLine(install: Install): string {
  const { pluginId, pluginVersion, id } = install;
  const line = `${pluginId} ${pluginVersion} installed as ${id}${missingSecrets(install)}`;
  return [line, ...probationLines(install).map((words) => `  ${words}`)].join('\n');
}

function gateOf(
  call: Call,
  given: PackageInput,
  { version }: Replaced,
  lastRuns: string | true,
): Promise<string> {
  const runs = lastRuns === true ? 20 : wholeNumber('--gate', lastRuns, 1, 200);
  const { id } = given.package.manifest;
  return showGate(call, { pluginId: id, pluginVersion: version }, { ...given, runs });
}

/** As the server has it: it alone knows whom its operator trusts, and what is installed. */
async function preview(call: Call, { package: document, signature }: InstallRequest) {
  const body = { package: document, ...(signature ? { signature } : {}) };
  const seen = await call<{ installed: Replaced | null; asked: Consent }>('POST', '/plugins/preview', body);
  return printableCopy(seen);
}

function refuseDowngrade({ manifest }: PluginPackage, { version }: Replaced): void {
  if (Bun.semver.order(manifest.version, version) < 0)
    throw new CommandError(
      `${manifest.id} ${version} is installed, which is newer than ${manifest.version}. Add --downgrade to install the older version.`,
    );
}

/**
 * What the server refuses, for whom it is to mend: of the manifest the author's lines, of the settings the flag.
 * The first detail is what the message is about; it is told where that begins, so that it is not told again below it.
 */
function inWords(error: unknown, document: PluginPackage, { settings }: InstallOptions): unknown {
  if (!(error instanceof ApiCallError)) return error;
  const { status, code, details } = error;
  const said = error.message.replace(
    /[Ss]et "(replace|downgrade)": true/,
    (text, flag) => `${text.startsWith('S') ? 'Add' : 'add'} --${flag}`,
  );
  const places = details.map(({ path }) => locationOfDetail(document, path));
  const [first] = places;
  const isOfSettings = details.some(({ path }) => /^settings(\.|$)/.test(path));
  const hint =
    isOfSettings && settings === undefined ? ' Pass all settings as JSON with --settings FILE.' : '';
  return new ApiCallError(status, {
    code,
    message: `${first ? `${positionText(first)}: ` : ''}${said}${hint}`,
    details: details.map((detail, index) => {
      const place = index > 0 && places[index];
      return place ? { ...detail, path: `${positionText(place)}: ${detail.path}` } : detail;
    }),
    cause: error,
  });
}

export async function confirm(otherwise: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CommandError('There is no terminal to confirm this. Add --yes to grant it.', exitCodes.usage);
  ask('Install and grant? [y/N] ');
  for await (const answer of createInterface({ input: process.stdin })) {
    if (/^y(es)?$/i.test(answer.trim())) return;
    break;
  }
  throw new CommandError(otherwise);
}
