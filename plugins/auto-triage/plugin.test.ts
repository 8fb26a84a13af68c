import { describe, expect, test } from 'bun:test';
import { FakeTracker } from './fake-tracker.ts';
import { learn } from './learn.ts';
import { sampleIssues } from './model/sample-issues.ts';
import { triage } from './triage.ts';

/** Returns a tracker whose team has labelled issues. */
function trackerWithLabels(): FakeTracker {
  const tracker = new FakeTracker();
  for (const { title, description, kind } of sampleIssues)
    tracker.add({ title, description, labels: [kind] });
  return tracker;
}

function modelsOf(tracker: FakeTracker): string[] {
  return [...tracker.kv.keys()].filter((key) => key.startsWith('model:')).sort();
}

let hour = 0;
/** Each firing has a different due time. */
const firing = (): { scheduledAt: string } => ({ scheduledAt: new Date(3_600_000 * ++hour).toISOString() });
const amber = {
  title: 'Amber tray after printing',
  description: 'The tray is amber.\n\n## Seen on\nnightly 2.4',
};

describe('triage', () => {
  test('a new issue gets the learned kind in addition to its labels, and one comment with the evidence', async () => {
    const tracker = trackerWithLabels();
    await learn(firing(), tracker.context());
    const issue = tracker.add({ ...amber, labels: ['urgent'] });
    await triage(issue, tracker.context());
    expect(tracker.namesOn(issue.id)).toEqual(['urgent', 'Bug']);
    expect(tracker.comments).toHaveLength(1);
    expect(tracker.comments[0]?.body).toMatch(
      /\*\*bug\*\* \(\d+ % sure, learned from 36 labelled issues of ENG\)/,
    );
    expect(tracker.comments[0]?.body).toContain('“Amber” in the title');
  });

  test('an issue with a kind label gets no other, and no comment without a finding', async () => {
    const tracker = trackerWithLabels();
    const issue = tracker.add({ ...amber, labels: ['QUESTION'] });
    await triage(issue, tracker.context());
    expect([tracker.comments.length, tracker.namesOn(issue.id)]).toEqual([0, ['question']]);
  });

  test('an issue labelled or deleted after the event is skipped', async () => {
    const tracker = trackerWithLabels();
    await learn(firing(), tracker.context());
    const issue = tracker.add(amber);
    tracker.relabel(issue.id, ['feature']);
    await triage(tracker.get(issue.id), tracker.context());
    await triage(null, tracker.context());
    expect([tracker.comments.length, tracker.namesOn(issue.id)]).toEqual([0, ['feature']]);
  });

  test('below the threshold nothing is labelled, and a suggestion is made only if the settings enable it', async () => {
    const tracker = trackerWithLabels();
    await learn(firing(), tracker.context());
    const issue = tracker.add(amber);
    tracker.settings = { ...tracker.settings, threshold: 1 };
    await triage(issue, tracker.context());
    expect(tracker.comments).toHaveLength(0);
    tracker.settings = { ...tracker.settings, suggest: true };
    await triage(issue, tracker.context());
    expect(tracker.comments[0]?.body).toContain('may be a **bug**');
    expect(tracker.namesOn(issue.id)).toEqual([]);
  });
});

describe('triage without a model', () => {
  test('without a model the rule is used and named, unless the settings disable it', async () => {
    const tracker = new FakeTracker();
    const issue = tracker.add({
      title: 'Crash on save: segmentation fault',
      description: 'It crashes since the update.',
    });
    tracker.settings = { ...tracker.settings, rule: false };
    await triage(issue, tracker.context());
    expect(tracker.namesOn(issue.id)).toEqual([]);
    tracker.settings = { ...tracker.settings, rule: true };
    await triage(issue, tracker.context());
    expect(tracker.namesOn(issue.id)).toEqual(['Bug']);
    expect(tracker.comments[0]?.body).toContain('general cues');
  });

  test('a missing label is logged and causes no failure', async () => {
    const tracker = new FakeTracker();
    tracker.labels = ['urgent'];
    tracker.settings = { ...tracker.settings, priority: 'off' };
    const issue = tracker.add({ title: 'Crash on save: segmentation fault', description: 'It crashes.' });
    await triage(issue, tracker.context());
    expect(tracker.logs.join()).toContain('no label "bug"');
    expect(tracker.comments).toHaveLength(0);
  });
});

describe('learn', () => {
  test('the plugin learns from corrections of its labels, but not from its labels', async () => {
    const tracker = trackerWithLabels();
    await learn(firing(), tracker.context());
    const issue = tracker.add(amber);
    await triage(issue, tracker.context());
    const learned = tracker.kv.get('model:ENG');
    await learn(firing(), tracker.context());
    expect(tracker.kv.get('model:ENG')).toBe(learned ?? '');
    tracker.relabel(issue.id, ['question']);
    await learn(firing(), tracker.context());
    expect(JSON.parse(tracker.kv.get('model:ENG') ?? '{}')).toMatchObject({ learned: [12, 12, 13] });
  });

  test('issues with two kind labels are ignored', async () => {
    const tracker = trackerWithLabels();
    tracker.add({ ...amber, labels: ['Bug', 'question'] });
    await learn(firing(), tracker.context());
    expect(JSON.parse(tracker.kv.get('model:ENG') ?? '{}')).toMatchObject({ learned: [12, 12, 12] });
  });

  test('a team with too few labels gets no model, and teams have separate models', async () => {
    const tracker = trackerWithLabels();
    tracker.add({ ...amber, team: 'OPS', labels: ['Bug'] });
    await learn(firing(), tracker.context());
    expect(modelsOf(tracker)).toEqual(['model:ENG']);
    expect(Object.keys(JSON.parse(tracker.kv.get('teams') ?? '{}')).sort()).toEqual(['ENG', 'OPS']);
  });

  test('results too large for a host call are read in smaller pages', async () => {
    const tracker = new FakeTracker();
    for (const { title, description, kind } of sampleIssues)
      tracker.add({ title, description: `${description}\n${'long text '.repeat(150)}`, labels: [kind] });
    await learn(firing(), tracker.context());
    expect(JSON.parse(tracker.kv.get('model:ENG') ?? '{}')).toMatchObject({ learned: [12, 12, 12] });
  });
});

describe('learning over several runs', () => {
  /** Runs one firing until the schedule is done, as the host does. @returns the progress after each run */
  async function learnAll(tracker: FakeTracker): Promise<number[]> {
    const event = firing();
    const came: number[] = [];
    for (let runs = 0; runs < 50; runs++) {
      tracker.cpuLeftMs = 10_000;
      const { done, of } = await learn(event, tracker.context());
      came.push(done);
      if (done === of) return came;
    }
    throw new Error(`The training did not finish: ${came.join(', ')}.`);
  }

  function trackerOfTeams(teams: readonly string[]): FakeTracker {
    const tracker = new FakeTracker();
    for (const team of teams)
      for (const { title, description, kind } of sampleIssues)
        tracker.add({ title, description, team, labels: [kind] });
    return tracker;
  }

  test('a run that is out of time reports its progress, and the next continues with the other teams', async () => {
    const tracker = trackerOfTeams(['A', 'B', 'C']);
    // A team of this size takes two slices, so that a run has time for one team.
    tracker.sliceMs = 2_200;
    expect(await learnAll(tracker)).toEqual([1, 2, 3]);
    expect(modelsOf(tracker)).toEqual(['model:A', 'model:B', 'model:C']);
    // In the next round only the changed team is retrained; the others are only checked.
    tracker.add({ title: 'One more', description: '', team: 'A', labels: ['Bug'] });
    expect(await learnAll(tracker)).toEqual([1, 3]);
    expect(JSON.parse(tracker.kv.get('model:A') ?? '{}')).toMatchObject({ learned: [13, 12, 12] });
  });

  test('a team that takes longer than a run is trained on fewer issues, and its model stays in use meanwhile', async () => {
    const tracker = trackerOfTeams(['A']);
    expect(await learnAll(tracker)).toEqual([1]);
    const model = tracker.kv.get('model:A') ?? '';
    for (const { title, description, kind } of [...sampleIssues, ...sampleIssues, ...sampleIssues])
      tracker.add({ title, description, team: 'A', labels: [kind] });
    tracker.sliceMs = 2_200;
    expect(await learnAll(tracker)).toEqual([0.5, 0.75, 1]);
    expect(tracker.kv.get('model:A')).not.toBe(model);

    tracker.add({ ...amber, team: 'A', labels: ['Bug'] });
    tracker.sliceMs = 9_000;
    const storedModel = tracker.kv.get('model:A') ?? '';
    expect(await learnAll(tracker)).toEqual([0.875, 0.9375, 1]);
    expect(tracker.kv.get('model:A')).toBe(storedModel);
    expect(tracker.logs.join()).toContain('the model is unchanged');
  });
});
