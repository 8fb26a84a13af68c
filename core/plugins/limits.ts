// The limits of a run: what the manifest asks, never more than the host's caps. Plugin contract › Default limits.
import type { PluginManifest } from '../../sdk/plugin/manifest.ts';
import type { RunLimits } from '../sandbox/supervisor.ts';

/** Runs an install may start in a minute. */
export const runsPerMinuteMax = 60_000;
/** Writes one run may stage. */
export const effectsMax = 100;
/** Plugin runs that may follow from one root event, and how deep. */
export const runsPerRootMax = 25;
export const depthMax = 8;
/** Times the same install may meet the same issue in one chain. */
export const sameInPathMax = 3;

export function limitsOf(
  manifest: PluginManifest,
  handler: { kind: 'event' | 'schedule'; name: string },
): RunLimits {
  const schedule = handler.kind === 'schedule' ? manifest.schedules?.[handler.name] : undefined;
  return {
    cpuMs:
      handler.kind === 'schedule'
        ? Math.min(schedule?.limits?.cpuMs ?? 2_000, 10_000)
        : Math.min(manifest.limits?.cpuMs ?? 100, 1_000),
    entryMs: 100,
    wallMs: handler.kind === 'schedule' ? 55_000 : 10_000,
    memoryMb: Math.min(manifest.limits?.memoryMb ?? 32, 128),
    calls: 100,
    concurrentCalls: 6,
    logBytes: 16 * 1024,
    logLines: 100,
    startupMs: 250,
  };
}
