// `tatami plugin list|show|versions|rollback|probation`: installed plugins with their state and mode.
import { printResult, CommandError, exitCodes } from '../lib/output.ts';
import { connect, readAll, type RemoteOptions } from '../lib/remote.ts';
import { waitWords, type Run } from './runs.ts';
import { saying } from '../lib/lookup.ts';
import { missingSecrets, type WithSecrets } from './secrets.ts';
import { effectiveMode } from '../../../features/plugins/offline.ts';
import type { InstallMode } from '../../../features/plugins/installs/contract.ts';

interface ListedPlugin extends PluginStatus {
  readonly id: string;
  readonly pluginId: string;
  readonly pluginVersion: string;
  readonly waitsFor: Run['waitsFor'];
}

export async function listPlugins(options: RemoteOptions): Promise<void> {
  const all = await readAll<ListedPlugin>(connect(options), '/plugins');
  printResult(all, options, (shown) =>
    shown.length === 0
      ? 'No plugins are installed.'
      : [...shown.map(pluginLine), ...howToEnd(shown)].join('\n'),
  );
}

function pluginLine({ pluginId, pluginVersion, id, waitsFor, ...standing }: ListedPlugin): string {
  const wait = waitsFor ? `  ${waitWords(waitsFor)}` : '';
  return `${pluginId.padEnd(24)} ${pluginVersion.padEnd(10)} ${modeNow(standing).padEnd(9)} ${stateNow(standing).padEnd(24)} ${id}${wait}`;
}

/** One line for all plugins on probation. */
function howToEnd(all: readonly ListedPlugin[]): string[] {
  if (all.every(({ probation }) => !probation)) return [];
  return [
    'A plugin on probation only proposes its writes. Probation ends with approved runs (`tatami proposals approve`), or with `tatami plugin probation NAME --end`.',
  ];
}

interface ShownPlugin extends PluginStatus {
  readonly id: string;
  readonly pluginId: string;
  readonly pluginVersion: string;
  readonly description: string;
  readonly stateReason: string | null;
  readonly publisher: string | null;
  readonly modes: Readonly<Record<string, string>>;
  readonly scopes: readonly {
    readonly scope: string;
    readonly sentence: string;
    readonly granted: boolean;
  }[];
  readonly events: readonly string[];
  readonly pending: { readonly version: string } | null;
}

export async function showPlugin(plugin: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}`;
  const found = await saying(call, { plugin }, call<ShownPlugin>('GET', path));
  printResult(found, options, (shown) => pluginLines(shown).join('\n'));
}

function pluginLines(install: ShownPlugin): string[] {
  const { pluginId, pluginVersion, id, description, publisher, stateReason, pending } = install;
  return [
    `${pluginId} ${pluginVersion}  ${id}${publisher === null ? '' : `, signed by ${publisher}`}`,
    ...(description === '' ? [] : [description]),
    `state  ${stateNow(install)}${stateReason === null ? '' : `: ${stateReason}`}`,
    ...probationLines(install).map((words) => `       ${words}`),
    `mode   ${modeLine(install)}`,
    ...Object.entries(install.modes).map(([what, mode]) => `       ${what}: ${mode}`),
    `events ${install.events.join(', ') || 'none'}`,
    ...install.scopes.map(
      ({ scope, sentence, granted }) => `scope  ${scope}: ${sentence}${granted ? '' : ' (not granted)'}`,
    ),
    ...(pending === null ? [] : [`${pending.version} needs consent: \`tatami plugin consent ${pluginId}\`.`]),
  ];
}

function modeLine(install: ShownPlugin): string {
  const now = modeNow(install);
  return now === install.mode ? now : `${now} until the probation ends, then ${install.mode}`;
}

interface Version {
  version: string;
  sha256: string;
  publisher: string | null;
  installedAt: string;
  replacedAt: string | null;
}

export async function listVersions(plugin: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/versions`;
  const { data } = await saying(call, { plugin }, call<{ data: Version[] }>('GET', path));
  printResult(data, options, (shown) => shown.map(versionLine).join('\n'));
}

function versionLine({ version, sha256, publisher, installedAt, replacedAt }: Version): string {
  const until = replacedAt === null ? 'installed' : `until ${replacedAt}`;
  return `${version.padEnd(12)} sha256:${sha256.slice(0, 12)}…  ${installedAt}  ${until}${publisher === null ? '' : `  ${publisher}`}`;
}

export async function rollback(
  plugin: string,
  version: string | undefined,
  options: RemoteOptions,
): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/rollback`;
  const wanted = version === undefined ? {} : { version };
  const made = await saying(
    call,
    { plugin },
    call<WithSecrets & { pluginVersion: string }>('POST', path, wanted),
  );
  printResult(
    made,
    options,
    (shown) => `${shown.pluginId} is back at ${shown.pluginVersion}${missingSecrets(shown)}`,
  );
}

export interface ProbationOptions extends RemoteOptions {
  end?: boolean;
  begin?: boolean;
}

interface PluginOnProbation extends PluginStatus {
  readonly pluginId: string;
}

export async function probation(name: string, options: ProbationOptions): Promise<void> {
  if (options.end === true && options.begin === true)
    throw new CommandError('Use --end or --begin, not both.', exitCodes.usage);
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(name)}`;
  const asked =
    options.end === true || options.begin === true
      ? call<PluginOnProbation>('PATCH', path, { probation: options.begin === true })
      : call<PluginOnProbation>('GET', path);
  printResult(await saying(call, { plugin: name }, asked), options, (install) => {
    const [words = `not on probation: mode ${install.mode}`] = probationLines(install);
    return `${install.pluginId}  ${words}`;
  });
}

interface Probation {
  readonly runsLeft: number;
  readonly message: string;
}

export interface WithProbation {
  readonly probation?: Probation | null;
}

/** Mode and state of an install. While it is on probation, its mode is not the configured one. */
export interface PluginStatus extends WithProbation {
  readonly mode: InstallMode;
  readonly state: string;
}

/** Mode of the next run. */
function modeNow({ mode, probation }: PluginStatus): InstallMode {
  const probationLeft = probation?.runsLeft ?? 0;
  return effectiveMode({ mode, modes: {}, probationLeft, budget: { whenSpent: 'stop' } });
}

/** `active`, or `probation: 20 approvals missing`. */
function stateNow({ state, probation }: PluginStatus): string {
  if (!probation) return state;
  const { runsLeft } = probation;
  const left = `${runsLeft} ${runsLeft === 1 ? 'approval' : 'approvals'} left`;
  return state === 'probation' ? `probation: ${left}` : `${state}, probation: ${left}`;
}

/** State of its probation, with the ways to end it; empty for a plugin that is not on probation. */
export function probationLines({ probation }: WithProbation): string[] {
  return probation?.message === undefined ? [] : [probation.message];
}
