// `tatami plugins install FILE|NAME` and `tatami plugins consent PLUGIN`: show the requested scopes, or the differences from the installed
// version, and grant them.
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
import { CommandError, exitCodes, printResult, say } from '../lib/output.ts';
import { confirm } from '../lib/question.ts';
import { wholeNumber } from '../lib/flags.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { locationOfDetail } from './author/author-error.ts';
import { readPackageInput, type PackageInput, readSettings } from './author/package.ts';
import {
  missingSecrets,
  probationLines,
  type WithProbation,
  type WithSecrets,
} from '../operations/views/plugins.ts';
import { showGate } from './backtest.ts';
import { explained } from '../operations/names.ts';

interface Install extends WithSecrets, WithProbation {
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

/** The body of the request; the server has defaults for absent members. */
interface InstallRequest extends PackageInput {
  readonly grant: readonly string[];
  readonly sha256: string;
  readonly downgrade?: boolean | undefined;
  readonly replace?: boolean | undefined;
  readonly mode?: string | undefined;
  readonly probation?: boolean;
  readonly settings?: unknown;
}

const question = 'Install and grant?';

/** @param folder where the path of a package file begins */
export async function install(source: string, options: InstallOptions, folder: string): Promise<void> {
  const given = await readPackageInput(source, folder, options);
  await installInput(connect(options), given, options, { folder, isGranted: false });
}

/**
 * @param isGranted true if the person has granted these requests a moment ago
 * @throws CommandError if the person does not consent
 */
export async function installInput(
  call: Call,
  given: PackageInput,
  options: InstallOptions,
  { folder, isGranted }: { readonly folder: string; readonly isGranted: boolean },
): Promise<void> {
  const { package: document } = given;
  const asked = askedOf(given, options, folder);
  const worded = (error: unknown): never => {
    throw inWords(error, document, options);
  };
  const { installed, asked: asks } = await preview(call, asked).catch(worded);
  if (installed && options.downgrade !== true) refuseDowngrade(document, installed);
  if (!isGranted) for (const line of consentLines(document.manifest.id, asks, installed)) say(line);
  if (installed && options.gate !== undefined) say(await gateOf(call, given, installed, options.gate));
  if (options.yes !== true && !isGranted)
    await confirm(question, { verb: 'grant', otherwise: 'Nothing was installed.' });
  const made = await call<Install>('POST', '/plugins', asked).catch(worded);
  printResult(made, options, installedLine);
}

function askedOf(given: PackageInput, options: InstallOptions, folder: string): InstallRequest {
  const { package: document } = given;
  const { downgrade, replace, mode, probation, settings } = options;
  return {
    ...given,
    grant: Object.keys(document.manifest.scopes ?? {}),
    downgrade,
    replace,
    mode,
    ...(probation === false ? { probation } : {}),
    ...(settings === undefined ? {} : { settings: readSettings(settings, folder) }),
    // The package that the person has seen.
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

export interface ConsentCommandOptions extends RemoteOptions {
  yes?: boolean;
  refuse?: boolean;
}

interface ConsentResponse extends WithSecrets {
  pluginVersion: string;
}

export async function consent(plugin: string, options: ConsentCommandOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/consent`;
  if (options.refuse === true) {
    const kept = await explained(call, 'plugins.get', { id: plugin }, call<ConsentResponse>('DELETE', path));
    printResult(kept, options, (shown) => `${shown.pluginId} stays at ${shown.pluginVersion}`);
    return;
  }
  const [{ installed, pending }, { id, pluginId }] = await explained(
    call,
    'plugins.get',
    { id: plugin },
    Promise.all([
      call<{ installed: Consent; pending: Consent | null }>('GET', path),
      call<{ id: string; pluginId: string }>('GET', `/plugins/${encodeURIComponent(plugin)}`),
    ]),
  );
  if (!pending)
    throw new CommandError(
      `No version of ${plugin} needs consent. List the versions with \`tatami plugins versions ${plugin}\`.`,
      exitCodes.failed,
    );
  for (const line of consentLines(pluginId, printableCopy(pending), { ...installed, id })) say(line);
  if (options.yes !== true) await confirm(question, { verb: 'grant' });
  const grant = pending.scopes.map(({ scope }) => scope);
  const made = await call<ConsentResponse>('POST', path, {
    grant,
    sha256: pending.sha256,
    digest: pending.digest,
  });
  printResult(
    made,
    options,
    (shown) => `${shown.pluginId} ${shown.pluginVersion} is installed${missingSecrets(shown)}`,
  );
}
