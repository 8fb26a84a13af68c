import { describe, expect, test } from 'bun:test';
import type { LearnContext } from '../context.ts';
import { FakeTracker } from '../fake-tracker.ts';
import { learn } from '../learn.ts';
import { sampleIssues } from '../model/sample-issues.ts';
import { triage } from '../triage.ts';
import { search } from './search.ts';
import { addEntry, buildSegment, decodeSegment, encodeSegment, segmentIssuesMax } from './segment.ts';
import { forgetIndexes, readIndex } from './store.ts';
import { codesOf, termsOf } from './terms.ts';

const broken = {
  title: 'Cannot remove node 7 because no matching node was found in the Store',
  description: 'The profiler throws in `removeElement` when a tree unmounts.',
};
const again = {
  title: 'Cannot remove node 12: no matching node was found in the Store',
  description: 'removeElement throws while I profile.',
};

let hour = 0;
const firing = (): { scheduledAt: string } => ({
  scheduledAt: new Date(1.7e12 + 3_600_000 * ++hour).toISOString(),
});

function trackerWithIssues(team = 'ENG'): FakeTracker {
  const tracker = new FakeTracker();
  tracker.settings = { ...tracker.settings, rule: false, priority: 'off' };
  for (const { title, description } of sampleIssues) tracker.add({ title, description, team });
  return tracker;
}

describe('duplicates', () => {
  test('an issue like an earlier one of its team names it, its title and shared words in one comment', async () => {
    const tracker = trackerWithIssues();
    const first = tracker.add(broken);
    await learn(firing(), tracker.context());
    await triage(tracker.add(again), tracker.context());
    expect(tracker.comments).toHaveLength(1);
    expect(tracker.comments[0]?.body).toContain(`Possibly a duplicate of:\n\n- ${first.identifier} \``);
    expect(tracker.comments[0]?.body).toMatch(/shared words: .*“matching”/);
  });

  test('issues are found before the first run of the schedule, by the issues that were created since', async () => {
    const tracker = trackerWithIssues();
    for (const issue of [...tracker.issues.values()]) await triage(issue, tracker.context());
    await triage(tracker.add(broken), tracker.context());
    expect(tracker.comments).toEqual([]);
    await triage(tracker.add(again), tracker.context());
    expect(tracker.comments[0]?.body).toContain('Possibly a duplicate of');
  });

  test('a new isolate finds the issues that were created since the last run of the schedule', async () => {
    const tracker = trackerWithIssues();
    await learn(firing(), tracker.context());
    await triage(tracker.add(broken), tracker.context());
    forgetIndexes();
    await triage(tracker.add(again), tracker.context());
    expect(tracker.comments[0]?.body).toContain('Possibly a duplicate of');
  });

  test('an event writes no part of the index, so that concurrent events do not conflict', async () => {
    const tracker = trackerWithIssues();
    await learn(firing(), tracker.context());
    const before = new Map(tracker.kv);
    await triage(tracker.add(broken), tracker.context());
    expect(tracker.kv).toEqual(before);
  });

  test('issues of another team and deleted issues are not named', async () => {
    const tracker = trackerWithIssues();
    const first = tracker.add(broken);
    await learn(firing(), tracker.context());
    await triage(tracker.add({ ...again, team: 'OPS' }), tracker.context());
    tracker.issues.delete(first.id);
    await triage(tracker.add(again), tracker.context());
    expect(tracker.comments).toEqual([]);
  });

  test('with duplicates off nothing is indexed or named', async () => {
    const tracker = trackerWithIssues();
    tracker.settings = { ...tracker.settings, duplicates: false };
    tracker.add(broken);
    await learn(firing(), tracker.context());
    await triage(tracker.add(again), tracker.context());
    expect([tracker.comments.length, tracker.kv.has('similar:ENG')]).toEqual([0, false]);
  });
});

describe('the index', () => {
  const storedIds = async ({ kv }: Pick<LearnContext, 'kv'>, team = 'ENG'): Promise<string[]> =>
    (await readIndex(kv, team, 1)).stored.flatMap(({ ids }) => ids).sort();

  test('has every issue once after the next run of the schedule, whatever events the plugin saw', async () => {
    const tracker = trackerWithIssues();
    for (const issue of [...tracker.issues.values()].slice(0, 20)) await triage(issue, tracker.context());
    for (let run = 0; run < 3; run++) await learn(firing(), tracker.context());
    for (let i = 0; i < 60; i++) tracker.add({ title: `Missed ${i}`, description: '' });
    await learn(firing(), tracker.context());
    expect(await storedIds(tracker.context())).toEqual([...tracker.issues.keys()].sort());
  });

  test('a run that is out of calls continues in the next one', async () => {
    const tracker = trackerWithIssues();
    for (let i = 0; i < 700; i++) tracker.add({ title: `Issue ${i}`, description: `text ${i} `.repeat(200) });
    const event = firing();
    const counts: number[] = [];
    for (let runs = 0; runs < 40; runs++) {
      tracker.calls = 0;
      const { done, of } = await learn(event, tracker.context());
      expect(tracker.calls).toBeLessThanOrEqual(100);
      counts.push((await storedIds(tracker.context())).length);
      if (done === of) break;
    }
    expect(counts.length).toBeGreaterThan(1);
    expect(counts.at(-1)).toBe(tracker.issues.size);
  });

  test('forgets the oldest issues beyond its size, which shrinks with the number of teams', async () => {
    const { kv } = new FakeTracker().context();
    const add = async (from: number, to: number, teams: number): Promise<string[]> => {
      const index = await readIndex(kv, 'ENG', teams);
      await index.shrink();
      for (let i = from; i < to; i++) await index.append([{ id: `iss_${i}`, codes: [i, i + 1] }], i);
      await index.save();
      return storedIds({ kv });
    };
    const alone = await add(0, 1800, 1);
    expect([alone.includes('iss_1799'), alone.includes('iss_0')]).toEqual([true, false]);
    expect(alone.length).toBeLessThanOrEqual(16 * segmentIssuesMax);
    const among = await add(1800, 1900, 12);
    expect([among.includes('iss_1899'), among.length < alone.length / 1.5]).toEqual([true, true]);
  });

  test('an edited issue is reread within a week', async () => {
    const tracker = trackerWithIssues();
    const first = tracker.add({ title: 'Nothing yet', description: '' });
    await learn(firing(), tracker.context());
    tracker.change(first.id, broken);
    hour += 8 * 24;
    await learn(firing(), tracker.context());
    await triage(tracker.add(again), tracker.context());
    expect(tracker.comments[0]?.body).toContain(`- ${first.identifier} `);
  });
});

describe('a segment', () => {
  test('restored from JSON finds the same issues, with the shared words by rarity', () => {
    const entries = sampleIssues.map((issue, at) => ({ id: `${at}`, codes: codesOf(termsOf(issue)) }));
    const built = buildSegment(entries.slice(0, 20));
    for (const entry of entries.slice(20)) addEntry(built, entry);
    const stored = decodeSegment(JSON.parse(JSON.stringify(encodeSegment(built))));
    expect(stored).toEqual(built);
    const query = termsOf({ title: 'Export stops at row 512', description: 'Amber tray' });
    const [best] = search([built], query, 5);
    expect(best).toMatchObject({ id: '9', shared: expect.arrayContaining(['512', 'stops']) });
    expect(search([built], query, 5, '9').map(({ id }) => id)).not.toContain('9');
  });

  test('parts of identifiers and inflected words are the same terms', () => {
    const terms = (title: string): Set<number> => new Set(termsOf({ title, description: '' }).title.keys());
    const camel = terms('parseHTMLDocument crashed');
    for (const code of terms('crashes HTML documents')) expect(camel.has(code)).toBe(true);
  });
});
