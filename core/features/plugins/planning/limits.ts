// Limits of runs: of each kind of handler, of a manifest capped by the host, and per minute.
// docs/spec/plugins.md › Limits.
import type { HandlerKind } from '../../../../sdk/plugin/handlers.ts';
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import type { RunLimits } from '../../../platform/sandbox/supervisor.ts';
import { createLru } from '../../../platform/lib/lru.ts';

interface Traits {
  /** First word of messages about a limit. */
  readonly title: string;
  readonly cpuMs: { readonly default: number; readonly most: number };
  readonly wallMs: number;
  /**
   * True if each run has a separate isolate and thread. The run then blocks no other run, so it may use its
   * CPU time without interruption, and it cannot access data that other runs of the plugin read with other
   * rights.
   */
  readonly isFresh: boolean;
  /** Limit of characters in the arguments and answers of the host calls of one run. */
  readonly callCharsMax: number;
  /** True if failed attempts are retried later. False if a caller waits and can repeat the call. */
  readonly isRetried: boolean;
}

const seldom = { default: 2_000, most: 10_000 };
const often = { default: 100, most: 1_000 };
const callChars = 32 * 1024 * 1024;

export const traitsOf: Readonly<Record<HandlerKind, Traits>> = {
  /** Called for an event that the plugin subscribes to. */
  event: {
    title: 'Handler',
    cpuMs: often,
    wallMs: 10_000,
    isFresh: false,
    callCharsMax: callChars,
    isRetried: true,
  },
  /** Called when its cron expression is due, or at a time that a run requested with `ctx.schedule.once`. */
  schedule: {
    title: 'Schedule',
    cpuMs: seldom,
    wallMs: 55_000,
    isFresh: true,
    callCharsMax: 256 * 1024 * 1024,
    isRetried: true,
  },
  /** Called by a person or program over the REST API. */
  action: {
    title: 'Action',
    cpuMs: seldom,
    wallMs: 5_000,
    isFresh: true,
    callCharsMax: callChars,
    isRetried: false,
  },
  /** Called for a request to an inbound route; anyone who has its URL can send requests. */
  route: {
    title: 'Route',
    cpuMs: often,
    wallMs: 10_000,
    isFresh: true,
    callCharsMax: callChars,
    isRetried: false,
  },
};

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

const windowMs = 60_000;
/** Limit of installs with counts in memory. An evicted install starts a new minute. */
const trackedInstallsMax = 10_000;

/**
 * Limits the runs or requests of an install per minute. The caller decides to defer or to refuse those
 * over the limit.
 */
export interface RunRate {
  /** Counts a run. Returns null if it can start now, else the wait time in milliseconds. */
  take(installId: string): number | null;
}

/**
 * @param perMinute 0 disables the limit
 * @param nowMs monotonic clock
 * @param trackedMax limit of installs with counts in memory
 */
export function createRunRate(
  perMinute: number,
  nowMs: () => number,
  trackedMax: number = trackedInstallsMax,
): RunRate {
  const windows = createLru<string, { readonly startedMs: number; runs: number }>(trackedMax);
  return {
    take(installId) {
      if (perMinute === 0) return null;
      const now = nowMs();
      const known = windows.get(installId);
      if (!known || now - known.startedMs >= windowMs) {
        windows.set(installId, { startedMs: now, runs: 1 });
        return null;
      }
      if (known.runs >= perMinute) return known.startedMs + windowMs - now;
      known.runs++;
      return null;
    },
  };
}
