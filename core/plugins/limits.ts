// The limits of a run: what the manifest asks, never more than the host's caps. docs/spec/plugins.md › Limits.
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

/** One uninterrupted stretch of an event handler; the isolate of its partition is busy for so long. */
const entryMs = 100;
const scheduleCpuMs = { default: 2_000, most: 10_000 };
const eventCpuMs = { default: 100, most: 1_000 };

export function limitsOf(
  manifest: PluginManifest,
  handler: { kind: 'event' | 'schedule'; name: string },
): RunLimits {
  const isSchedule = handler.kind === 'schedule';
  const caps = isSchedule ? scheduleCpuMs : eventCpuMs;
  const asked = isSchedule ? manifest.schedules?.[handler.name]?.limits : manifest.limits;
  const cpuMs = Math.min(asked?.cpuMs ?? caps.default, caps.most);
  return {
    cpuMs,
    // A schedule has an isolate, and so a thread, of its own, which holds up nobody else.
    entryMs: isSchedule ? cpuMs : entryMs,
    wallMs: isSchedule ? 55_000 : 10_000,
    memoryMb: Math.min(manifest.limits?.memoryMb ?? 32, 128),
    calls: 100,
    concurrentCalls: 6,
    logBytes: 16 * 1024,
    logLines: 100,
    startupMs: 250,
  };
}
