// A month of a company, by chance from a seed: what the server tells of it in the end, and at its restarts in between, is what a model
// says that saw the same acts. `TATAMI_SEED` chooses another month, `TATAMI_LONG=1` a busier one.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agreeOn } from './agreement.ts';
import { foundCompany, monthBegins } from './company.ts';
import { dayMs } from './hours.ts';
import { look, lookBack, type Moment } from './moments.ts';
import { isSound } from './soundness.ts';
import { act, chanceOf, pass, pauseOf, planOf } from './story.ts';

const seed = Number(process.env.TATAMI_SEED ?? 20_271_010);
const isLong = process.env.TATAMI_LONG !== undefined;
const days = 31;
const pauseHours = isLong ? 2 : 16;
const actsAtOnce = 4;
const moments = 50;

test(`a month is what a model says that saw it happen (seed ${seed})`, async () => {
  console.log(`seed ${seed}`);
  const dataDir = mkdtempSync(join(tmpdir(), 'tatami-month-'));
  const company = await foundCompany(dataDir);
  try {
    const chance = chanceOf(seed);
    const plan = planOf(company);
    const seen: Moment[] = [];
    let steps = 0;
    const board = {
      name: 'Engineering',
      team: 'ENG',
      columns: ['Todo', 'In Progress', 'Done'].map((value) => ({ value })),
    };
    await company.ok('POST', '/boards', board);
    for (let day = 0; day < days; day++) {
      const end = monthBegins + (day + 1) * dayMs;
      await plan.get(day)?.();
      await company.app.settled();
      if (day === 7 || day === 22) {
        company.app = await company.app.restart();
        await agreeOn(company);
      }
      while (company.app.clock.now() < end) {
        await pass(company, pauseOf(chance, pauseHours));
        for (let acts = 1 + chance.below(actsAtOnce); acts > 0; acts--) await act(company, chance);
        if (seen.length < moments && steps++ % 3 > 0) seen.push(await look(company, chance));
        // What comes next is of another moment than what was seen.
        await pass(company, 1);
      }
    }
    expect(company.app.clock.now()).toBeGreaterThan(Date.parse('2027-11-08T00:00:00Z'));
    await agreeOn(company);
    await lookBack(company, chance, seen);
    await isSound(company, dataDir);
  } finally {
    await company.app.stop().catch(() => undefined);
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 600_000);
