// Checks that code can replay a recording: it belongs to the plugin of the run and has the same handler.
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import type { Recording } from './recording.ts';

/**
 * Returns the reason that the code cannot replay the recording; null if it can.
 * @param pluginId plugin of the run; undefined if it is no longer known
 */
export function whyNotItsCode(
  { id, handlers }: PluginManifest,
  { kind, name }: Recording['handler'],
  pluginId: string | undefined,
): string | null {
  if (pluginId !== undefined && pluginId !== id)
    return `The code is of the plugin ${id}, but the run is of ${pluginId}. Use the code of ${pluginId}.`;
  if (handlers.includes(`${kind}:${name}`)) return null;
  const others = handlers.filter((handler) => handler.startsWith(`${kind}:`));
  const there =
    others.length > 0 ? `its handlers are ${others.join(', ')}` : 'it has no handlers of this kind';
  return `${id} has no handler ${kind}:${name}, which this run used; ${there}. Use code that has the handler.`;
}
