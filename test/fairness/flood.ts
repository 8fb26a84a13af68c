// Timed sequential requests of a victim during a flood by another client.
import type { Client, Json } from '../app.ts';

export interface Felt {
  readonly p50: number;
  /** Slowest latency: the 99th percentile of many requests, the 95th of few. */
  readonly worst: number;
}

/** Measures sequential reads for the given time, in milliseconds; at least twenty. */
export async function timesOf(call: Client, forMs: number): Promise<number[]> {
  const times: number[] = [];
  const endAt = performance.now() + forMs;
  while (performance.now() < endAt || times.length < 20) {
    const startedAt = performance.now();
    const { status } = await call('GET', '/api/v1/issues?limit=1');
    if (status !== 200) throw new Error(`the victim's read answered ${status}`);
    times.push(performance.now() - startedAt);
    await Bun.sleep(1);
  }
  return times;
}

export function feltOf(times: readonly number[]): Felt {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (fraction: number): number => sorted[Math.floor(sorted.length * fraction)]!;
  return { p50: at(0.5), worst: at(times.length > 2_000 ? 0.99 : 0.95) };
}

export const feel = async (call: Client, forMs: number): Promise<Felt> => feltOf(await timesOf(call, forMs));

/**
 * Sends requests from four clients, each waiting for its response.
 * @returns a function that stops the flood and returns the number of requests
 */
export function flood(send: () => Promise<unknown>, everyMs: number): () => Promise<number> {
  let goesOn = true;
  let sent = 0;
  const flooding = Array.from({ length: 4 }, async () => {
    while (goesOn) {
      await Promise.all([send(), everyMs === 0 ? null : Bun.sleep(everyMs * 4)]);
      sent++;
    }
  });
  return async () => {
    goesOn = false;
    await Promise.all(flooding);
    return sent;
  };
}

/** Milliseconds until a condition holds; polls every few milliseconds. */
export async function untilMs(holds: () => Promise<boolean>, atMostMs: number): Promise<number> {
  const startedAt = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedAt > atMostMs) return Infinity;
    await Bun.sleep(5);
  }
  return performance.now() - startedAt;
}

/** Runs of a plugin with a status, at most a hundred. */
export async function runsOf(call: Client, pluginId: string, status: string): Promise<Json[]> {
  return (await call('GET', `/api/v1/plugins/${pluginId}/runs?limit=100&status=${status}`)).json.data;
}

export async function fileMany(call: Client, team: string, count: number): Promise<void> {
  for (let filed = 0; filed < count; filed += 100) {
    const issues = Array.from({ length: Math.min(100, count - filed) }, (_, n) => ({
      team,
      title: `Issue ${filed + n}`,
    }));
    const { status } = await call('POST', '/api/v1/issues/bulk', { issues });
    if (status !== 201) throw new Error(`bulk answered ${status}`);
  }
}
