// Compares the server with a model over a random month with restarts. `TATAMI_SEED` chooses another month,
// `TATAMI_LONG=1` a busier one.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agreeOn } from './agreement.ts';
import { startSimulation, monthBegins } from './simulation.ts';
import { dayMs } from './hours.ts';
import { look, lookBack, type Moment } from './moments.ts';
import { isSound } from './soundness.ts';
import { act, chanceOf, pass, pauseOf, planOf } from './scenario.ts';

const seed = Number(process.env.TATAMI_SEED ?? 20_271_010);
const isLong = process.env.TATAMI_LONG !== undefined;
const days = 31;
const pauseHours = isLong ? 2 : 32;
const actsAtOnce = 4;
const moments = isLong ? 50 : 20;

test(`the state after a month of random acts equals the model (seed ${seed})`, async () => {
  console.log(`seed ${seed}`);
  const dataDir = mkdtempSync(join(tmpdir(), 'tatami-month-'));
  const simulation = await startSimulation(dataDir);
  try {
    const chance = chanceOf(seed);
    const plan = planOf(simulation);
    const seen: Moment[] = [];
    let steps = 0;
    const board = {
      name: 'Engineering',
      team: 'ENG',
      columns: ['Todo', 'In Progress', 'Done'].map((value) => ({ value })),
    };
    await simulation.ok('POST', '/boards', board);
    for (let day = 0; day < days; day++) {
      const end = monthBegins + (day + 1) * dayMs;
      await plan.get(day)?.();
      await simulation.app.settled();
      if (day === 7 || day === 22) {
        simulation.app = await simulation.app.restart();
        await agreeOn(simulation);
      }
      while (simulation.app.clock.now() < end) {
        await pass(simulation, pauseOf(chance, pauseHours));
        for (let acts = 1 + chance.below(actsAtOnce); acts > 0; acts--) await act(simulation, chance);
        if (seen.length < moments && steps++ % 3 > 0) seen.push(await look(simulation, chance));
        // Later acts need a time after the recorded reads.
        await pass(simulation, 1);
      }
    }
    expect(simulation.app.clock.now()).toBeGreaterThan(Date.parse('2027-11-08T00:00:00Z'));
    await agreeOn(simulation);
    expect(seen).toHaveLength(moments);
    await lookBack(simulation, chance, seen);
    await isSound(simulation, dataDir);
  } finally {
    await simulation.app.stop().catch(() => undefined);
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 600_000);
