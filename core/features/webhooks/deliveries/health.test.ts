// Health of endpoints: the cache is bounded, and evicted entries are restored from their row.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../platform/store/open-store.ts';
import { scopeOf } from '../../../platform/store/store.ts';
import { createHealths, endpointsMax } from './health.ts';

const scope = scopeOf('00000000-0000-7000-8000-000000000001');
const hourMs = 3_600_000;

test('an evicted endpoint is restored from its row with every failure and its first failure time', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-health-'));
  const { store, close } = openStore(dir, () => 0);
  try {
    const healths = createHealths(store);
    await healths.load(scope, 'failing');
    for (let hour = 0; hour < 10; hour++)
      await store.commit(healths.note(scope, 'failing', false, hour * hourMs));
    expect(healths.isProbing('failing')).toBe(true);

    for (let n = 0; n < endpointsMax; n++) await healths.load(scope, `other-${n}`);
    expect(healths.isLoaded('failing')).toBe(false);
    expect(healths.isLoaded(`other-${endpointsMax - 1}`)).toBe(true);

    await healths.load(scope, 'failing');
    expect(healths.isProbing('failing')).toBe(true);
    expect(healths.isHopeless('failing', 119 * hourMs)).toBe(false);
    expect(healths.isHopeless('failing', 120 * hourMs)).toBe(true);
  } finally {
    await close();
    rmSync(dir, { recursive: true });
  }
});
