// What a victim feels while somebody else floods: its requests, one after the other, timed.
import type { Client, Json } from '../app.ts';

export interface Felt {
  readonly p50: number;
  readonly p99: number;
}

/** Times reads one after the other for so long, in milliseconds; at least twenty. */
export async function feel(call: Client, forMs: number): Promise<Felt> {
  const times: number[] = [];
  const endAt = performance.now() + forMs;
  while (performance.now() < endAt || times.length < 20) {
    const startedAt = performance.now();
    const { status } = await call('GET', '/api/v1/issues?limit=1');
    if (status !== 200) throw new Error(`the victim's read answered ${status}`);
    times.push(performance.now() - startedAt);
    await Bun.sleep(1);
  }
  times.sort((a, b) => a - b);
  return { p50: times[Math.floor(times.length / 2)]!, p99: times[Math.floor(times.length * 0.99)]! };
}

/** How long until a condition holds, in milliseconds; it is looked at every few. */
export async function untilMs(holds: () => Promise<boolean>, atMostMs: number): Promise<number> {
  const startedAt = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedAt > atMostMs) return Infinity;
    await Bun.sleep(5);
  }
  return performance.now() - startedAt;
}

/** How many runs a plugin has, at most a hundred, that are in a state. */
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
