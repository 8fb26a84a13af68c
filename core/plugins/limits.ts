// The limits of a run: what the manifest asks, never more than the host's caps. docs/spec/plugins.md › Limits.
import type { PluginManifest } from '../../sdk/plugin/manifest.ts';
import type { RunLimits } from '../sandbox/supervisor.ts';
import { traitsOf, type HandlerKind } from './handler-kinds.ts';

/** Runs an install may start in a minute. */
export const runsPerMinuteMax = 60_000;
/** Requests that the routes of an install take in a minute. */
export const inboundPerMinuteMax = 600;
/** Writes one run may stage. */
export const effectsMax = 100;
/** Plugin runs that may follow from one root event, and how deep. */
export const runsPerRootMax = 25;
export const depthMax = 8;
/** Times the same install may meet the same issue in one chain. */
export const sameInPathMax = 3;

/** One uninterrupted stretch of a run that shares its isolate; the isolate of its partition is busy for so long. */
const entryMs = 100;

export function limitsOf(
  manifest: PluginManifest,
  handler: { readonly kind: HandlerKind; readonly name: string },
): RunLimits {
  const { cpuMs: caps, wallMs, isFresh } = traitsOf[handler.kind];
  const cpuMs = Math.min(askedLimits(manifest, handler)?.cpuMs ?? caps.default, caps.most);
  return {
    cpuMs,
    entryMs: isFresh ? cpuMs : entryMs,
    wallMs,
    memoryMb: Math.min(manifest.limits?.memoryMb ?? 32, 128),
    calls: 100,
    concurrentCalls: 6,
    logBytes: 16 * 1024,
    logLines: 100,
    startupMs: 250,
  };
}

function askedLimits(manifest: PluginManifest, { kind, name }: { kind: HandlerKind; name: string }) {
  if (kind === 'schedule') return manifest.schedules?.[name]?.limits;
  if (kind === 'action') return manifest.actions?.[name]?.limits;
  return manifest.limits;
}
