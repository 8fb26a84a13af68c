import { expect, test } from 'bun:test';
import { seededRandom } from '../../../../test/faults/server.ts';
import { createIds } from '../../../platform/lib/ids.ts';
import { rankBetween } from '../../../platform/lib/rank.ts';
import { defaultRank, creationPositionOf } from './default-rank.ts';

test('a rank is mapped back to its position in the order of creation', () => {
  const seed = Number(process.env.TATAMI_SEED ?? 20261122);
  const random = seededRandom(seed);
  let now = 1_790_000_000_000;
  const ids = createIds(
    () => now,
    (bytes) => void bytes.forEach((_, index) => (bytes[index] = Math.floor(random() * 256))),
  );
  const issues = Array.from({ length: 40 }, () => {
    now += Math.floor(random() * 3) - 1;
    return { at: now, id: ids.next('iss') };
  });
  const ranks = issues.map(({ at, id }) => defaultRank(at, id));
  // Adds ranks close to each rank, on both sides.
  const near = ranks.flatMap((rank) => {
    const all = [rank];
    let [below, above] = [rankBetween(null, rank), rankBetween(rank, null)];
    for (let step = 0; step < 250; step++) {
      all.push(below, above);
      below = rankBetween(below, rank);
      above = rankBetween(rank, above);
      if (!(below < rank && above > rank)) throw new Error(JSON.stringify({ rank, below, above }));
    }
    return all;
  });
  for (const rank of near) {
    const bound = creationPositionOf(rank);
    for (const [index, { at, id }] of issues.entries()) {
      const isBehind = at < bound.at || (at === bound.at && id < bound.id);
      const isBefore = at > bound.at || (at === bound.at && id > bound.id);
      const own = ranks[index]!;
      if (isBehind !== own > rank || isBefore !== own < rank)
        expect({ seed, rank, own, at, id, bound }).toBeNull();
    }
  }
});
