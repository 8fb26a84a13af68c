// Whether code can be given a recording: it is of the plugin that ran, and has the handler that did.
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import type { Recording } from './recording.ts';

/** @param pluginId of the plugin that ran; undefined where nobody knows it any more */
export function whyNotItsCode(
  { id, handlers }: Pick<PluginManifest, 'id' | 'handlers'>,
  { kind, name }: Recording['handler'],
  pluginId: string | undefined,
): string | null {
  if (pluginId !== undefined && pluginId !== id)
    return `This is the plugin ${id}; the run is one of ${pluginId}. Give the code of that.`;
  if (handlers.includes(`${kind}:${name}`)) return null;
  const others = handlers.filter((handler) => handler.startsWith(`${kind}:`));
  const there = others.length > 0 ? `it has ${others.join(', ')}` : 'it has none of that kind';
  return `${id} has no handler ${kind}:${name}, which this run was of; ${there}.`;
}
