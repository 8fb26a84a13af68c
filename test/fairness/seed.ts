// Large issues for floods, created through the public API. Texts come from a seed, so that every run is identical.
import { expect } from 'bun:test';
import type { Client } from '../app.ts';
import { seededRandom } from '../faults/server.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz';

/** Words in upper and lower case, none of which is "needle". */
export function largeText(characters: number, seed: number): string {
  const random = seededRandom(seed);
  const part = Array.from({ length: 1024 }, () => letters[Math.floor(random() * letters.length)]).join('');
  return part
    .replaceAll(/needle/gi, 'noodle')
    .repeat(Math.ceil(characters / 1024))
    .slice(0, characters);
}

/** @returns ids of the issues */
export async function makeLargeIssues(
  call: Client,
  team: string,
  count: number,
  characters: number,
): Promise<string[]> {
  const ids: string[] = [];
  const atOnce = Math.max(1, Math.min(100, Math.floor(3_900_000 / (characters + 200))));
  for (let at = 0; at < count; at += atOnce) {
    const issues = Array.from({ length: Math.min(atOnce, count - at) }, (_, index) => ({
      team,
      title: `Large ${at + index}`,
      description: largeText(characters, at + index + 1),
    }));
    const { status, json } = await call('POST', '/api/v1/issues/bulk', { issues });
    expect(status).toBe(201);
    ids.push(...(json.data as { id: string }[]).map(({ id }) => id));
  }
  return ids;
}
