// The oracle of docs/spec/durability.md › Acknowledged writes: acknowledged writes exist, every issue has its event and
// every event its issue, the sequence and the numbers have no gap, and a key repeated after the fault has exactly one
// effect.
import { expect } from 'bun:test';
import type { Client, Json } from '../app.ts';

export async function everything(call: Client, path: string): Promise<Json[]> {
  const all: Json[] = [];
  for (let after = ''; ;) {
    const query = `${path.includes('?') ? '&' : '?'}limit=100${after}`;
    const { status, json } = await call('GET', `/api/v1${path}${query}`);
    if (status !== 200) throw new Error(`GET ${path}${query}: ${status} ${JSON.stringify(json)}`);
    all.push(...json.data);
    if (!json.pageInfo.hasNextPage) return all;
    after = `&after=${json.pageInfo.endCursor}`;
  }
}

/** @param acked idempotency key → issue id, as the client received it */
export async function checkOracle(call: Client, acked: ReadonlyMap<string, string>): Promise<Json[]> {
  const issues = await everything(call, '/issues?sort=number');
  const events = await everything(call, '/events');
  const ids = new Set(issues.map(({ id }) => id));
  for (const [key, id] of acked) expect([key, ids.has(id)]).toEqual([key, true]);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const created = events.filter(({ type }) => type === 'issue.created').map(({ data }) => data.id);
  expect(created.sort()).toEqual([...ids].sort());
  expect(issues.map(({ number }) => number)).toEqual(issues.map((_, index) => index + 1));
  return issues;
}
