// Displays installed plugins: state, mode, scopes and what they still need.
import { effectiveMode } from '../../../../features/plugins/offline.ts';
import { tableOf } from '../../lib/table.ts';
import { waitWords, type Run } from './runs.ts';
import type { InstallMode } from '../../../../features/plugins/installs/contract.ts';

interface ShownPlugin extends PluginStatus, WithSecrets {
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

export function pluginView(install: ShownPlugin): string {
  const { pluginId, pluginVersion, id, description, publisher, stateReason, pending } = install;
  const lines = [
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
    ...(pending === null
      ? []
      : [`${pending.version} needs consent: \`tatami plugins consent ${pluginId}\`.`]),
  ];
  return lines.join('\n') + missingSecrets(install);
}

function modeLine(install: ShownPlugin): string {
  const now = modeNow(install);
  return now === install.mode ? now : `${now} until the probation ends, then ${install.mode}`;
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

export interface WithSecrets {
  readonly pluginId: string;
  readonly secrets: readonly { readonly name: string; readonly setAt: string | null }[];
}

/** Returns further lines for the secrets that are not set, each with a leading line end. */
export function missingSecrets({ pluginId, secrets }: WithSecrets): string {
  return secrets
    .filter(({ setAt }) => setAt === null)
    .map(({ name }) => `\n  ${name} is not set: tatami plugins secrets set ${pluginId} ${name}`)
    .join('');
}

interface ListedPlugin extends PluginStatus {
  readonly id: string;
  readonly pluginId: string;
  readonly pluginVersion: string;
  readonly waitsFor: Run['waitsFor'];
}

export function pluginsView(all: readonly ListedPlugin[]): string {
  return [
    ...tableOf([['PLUGIN', 'VERSION', 'MODE', 'STATE', 'ID'], ...all.map(pluginRow)]),
    ...howToEnd(all),
  ].join('\n');
}

function pluginRow({ pluginId, pluginVersion, id, waitsFor, ...standing }: ListedPlugin): string[] {
  const wait = waitsFor ? `, ${waitWords(waitsFor)}` : '';
  return [pluginId, pluginVersion, modeNow(standing), stateNow(standing) + wait, id];
}

/** One line for all plugins on probation. */
function howToEnd(all: readonly ListedPlugin[]): string[] {
  if (all.every(({ probation }) => !probation)) return [];
  return [
    'A plugin on probation only proposes its writes. Probation ends with approved runs (`tatami proposals approve`), or with `tatami plugins update NAME --no-probation`.',
  ];
}
