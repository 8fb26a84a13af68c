// `tatami plugin show PLUGIN`: one installed plugin, with what it may do and what becomes of what it writes.
import { printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { saying } from './author/known.ts';
import { modeNow, probationLines, stateNow, type PluginStatus } from './plugin-status.ts';

interface Install extends PluginStatus {
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

export async function show(plugin: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}`;
  const found = await saying(call, { plugin }, call<Install>('GET', path));
  printResult(found, options, (shown) => linesOf(shown).join('\n'));
}

function linesOf(install: Install): string[] {
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

function modeLine(install: Install): string {
  const now = modeNow(install);
  return now === install.mode ? now : `${now} until the probation ends, then ${install.mode}`;
}
