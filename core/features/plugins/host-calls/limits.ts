// Determines the limits of a run: the values of the manifest, capped by the host. docs/spec/plugins.md ›
// Limits.
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import type { RunLimits } from '../../../platform/sandbox/supervisor.ts';
import { traitsOf, type HandlerKind } from '../planning/handler-kinds.ts';

/** Number of runs that an install can start per minute. */
export const runsPerMinuteMax = 60_000;
/** Number of requests that all routes of an install accept per minute. */
export const inboundPerMinuteMax = 600;
/** Number of writes that one run can stage. */
export const effectsMax = 100;
/** Number of runs that can follow from one root event, and depth of their causation chain. */
export const runsPerRootMax = 25;
export const depthMax = 8;
/** Number of times that the same install can handle the same object in one chain. */
export const sameInPathMax = 3;

/** Longest uninterrupted CPU time in a shared isolate, in ms; the partition's isolate is blocked for that time. */
const entryMs = 100;

export function limitsOf(
  manifest: PluginManifest,
  handler: { readonly kind: HandlerKind; readonly name: string },
): RunLimits {
  const { cpuMs: caps, wallMs, isFresh } = traitsOf[handler.kind];
  const cpuMs = Math.min(requestedLimits(manifest, handler)?.cpuMs ?? caps.default, caps.most);
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

function requestedLimits(manifest: PluginManifest, { kind, name }: { kind: HandlerKind; name: string }) {
  if (kind === 'schedule') return manifest.schedules?.[name]?.limits;
  if (kind === 'action') return manifest.actions?.[name]?.limits;
  return manifest.limits;
}
