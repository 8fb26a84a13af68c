import { describe, expect, test } from 'bun:test';
import { FakeTracker } from '../fake-tracker.ts';
import { learn } from '../learn.ts';
import { triage } from '../triage.ts';
import { learnPriorities, predictPriority, type PriorityExample } from './learned.ts';

let hour = 0;
const firing = (): { scheduledAt: string } => ({ scheduledAt: new Date(3_600_000 * ++hour).toISOString() });
const outage = { title: 'The checkout is an outage', description: 'Production is down.' };
const ledger = { title: 'Ledger totals are off again', description: 'Totals of the ledger differ.' };

/** Returns issues of a team for which ledgers are urgent and colours are not. */
function prioritised(count: number): PriorityExample[] {
  return Array.from({ length: count }, (_, i) =>
    i % 2 === 0
      ? { title: `Ledger ${i} differs`, description: `Totals ${i} of the ledger.`, priority: 'urgent' }
      : { title: `Colour ${i} is dull`, description: `A shade ${i} on the screen.`, priority: 'low' },
  );
}

function trackerWithPriorities(): FakeTracker {
  const tracker = new FakeTracker();
  tracker.settings = { ...tracker.settings, rule: false, duplicates: false };
  for (const issue of prioritised(60)) tracker.add(issue);
  return tracker;
}

describe('priority', () => {
  test('general cues suggest a priority beside the kind, with the words they matched, and set nothing', async () => {
    const tracker = new FakeTracker();
    tracker.settings = { ...tracker.settings, threshold: 0 };
    const issue = tracker.add({ title: 'Segfault: crash', description: 'It is an outage.' });
    await triage(issue, tracker.context());
    expect(tracker.comments[0]?.body).toContain(
      'Suggested priority: **urgent** (by general cues, because the team has too few labelled issues to learn from). Evidence: “outage”.',
    );
    expect(tracker.get(issue.id).priority).toBe('none');
    await triage(tracker.add({ ...outage, labels: ['Bug'] }), tracker.context());
    expect(tracker.comments).toHaveLength(1);
  });

  test('an issue with a priority, without cues, or with the setting "off" gets no suggestion', async () => {
    const tracker = new FakeTracker();
    tracker.settings = { ...tracker.settings, threshold: 0, duplicates: false };
    const crash = { title: 'Crash: segfault', description: 'Production is down.' };
    await triage(tracker.add({ ...crash, priority: 'low' }), tracker.context());
    await triage(tracker.add({ title: 'Error: wrong totals', description: '' }), tracker.context());
    tracker.settings = { ...tracker.settings, priority: 'off' };
    await triage(tracker.add(crash), tracker.context());
    expect(tracker.comments).toHaveLength(3);
    expect(tracker.comments.filter(({ body }) => body.includes('priority'))).toEqual([]);
  });

  test('with the setting "set" the kind and the priority are written together and explained in one comment', async () => {
    const tracker = new FakeTracker();
    tracker.settings = { ...tracker.settings, threshold: 0, priority: 'set' };
    const issue = tracker.add({
      title: 'Crash: segmentation fault',
      description: 'A regression. It crashes.',
    });
    await triage(issue, tracker.context());
    expect(tracker.get(issue.id)).toMatchObject({ priority: 'high', labels: [{ name: 'Bug' }], version: 3 });
    expect(tracker.comments).toHaveLength(1);
    expect(tracker.comments[0]?.body).toMatch(/Labelled \*\*bug\*\*[^]*Priority set to \*\*high\*\*/);
    expect(tracker.comments[0]?.body).toContain('change the label or the priority');
  });

  test('a team with enough prioritised issues gets its own priorities, with words of the issue', async () => {
    const tracker = trackerWithPriorities();
    await learn(firing(), tracker.context());
    await triage(tracker.add(ledger), tracker.context());
    expect(tracker.comments[0]?.body).toMatch(
      /Suggested priority: \*\*urgent\*\* \(learned from 60 labelled issues of ENG\)\. Evidence: .*“Ledger”/,
    );
  });

  test('the plugin learns from corrections of its priorities, but not from its priorities', async () => {
    const tracker = trackerWithPriorities();
    tracker.settings = { ...tracker.settings, priority: 'set' };
    await learn(firing(), tracker.context());
    const issue = tracker.add(ledger);
    await triage(issue, tracker.context());
    expect(tracker.get(issue.id).priority).toBe('urgent');
    const learned = tracker.kv.get('priority:ENG');
    await learn(firing(), tracker.context());
    expect(tracker.kv.get('priority:ENG')).toBe(learned ?? '');
    tracker.change(issue.id, { priority: 'low' });
    await learn(firing(), tracker.context());
    expect(JSON.parse(tracker.kv.get('priority:ENG') ?? '{}')).toMatchObject({ learned: [31, 0, 0, 30] });
  });
});

describe('learning priorities', () => {
  test('too few issues, one priority, or texts that do not tell priorities apart give no model', () => {
    expect(learnPriorities(prioritised(20))).toBeUndefined();
    expect(learnPriorities(prioritised(60).map((issue) => ({ ...issue, priority: 'low' })))).toBeUndefined();
    const shuffled = prioritised(100).map((issue, i) => ({
      ...issue,
      priority: (['low', 'high'] as const)[(i >> 1) % 2] ?? 'low',
    }));
    expect(learnPriorities(shuffled)).toBeUndefined();
  });

  test('a text without known words gets no answer', () => {
    const model = learnPriorities(prioritised(60));
    expect(model?.accuracy).toBeGreaterThan(0.9);
    expect(model && predictPriority(model, { title: 'Zebra', description: '' })).toBeUndefined();
  });
});
