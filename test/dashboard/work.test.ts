// The work at single screens of the web app in a real browser. TATAMI_LONG=1 runs it; it takes two minutes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../app.ts';
import { openScene, runAt, type Scene } from './scene.ts';

const isLong = process.env.TATAMI_LONG !== undefined;

let scene: Scene | undefined;
beforeAll(async () => {
  if (isLong) scene = await openScene();
}, 180_000);
afterAll(() => scene?.stop());

function longTest(title: string, run: () => Promise<void>): void {
  if (isLong) test(title, run, 120_000);
}

longTest('favorites and preferences follow the person to other tabs and browsers', async () => {
  const seen = await runAt<Json>(scene!, 'favorites-process.ts');
  expect(seen).toMatchObject({
    added: [expect.stringMatching(/^ENG-\d+ Starred$/), 'Work'],
    moved: ['Work', expect.stringMatching(/^ENG-\d+ Starred$/)],
    violations: [],
    deleted: ['Work'],
    dialogs: 0,
    painted: ['dark', '/boards'],
    complaints: [],
  });
});

longTest(
  'a developer manages keys, webhooks and proposals, and finds forms as typed after a confirmed sign-in',
  async () => {
    const seen = await runAt<Json>(scene!, 'developers-process.ts');
    expect(seen).toMatchObject({
      keyForm: 'From the form',
      stored: [],
      key: { scopes: ['issues:read'], expiresAt: '2099-01-01T00:00:00.000Z' },
      nextKeyForm: '',
      storedSecret: false,
      webhookForm: ['', 'Described in the form'],
      evidence: [true, true, true, true],
      decisions: ['comment rejected', 'update approved'],
      focused: 'true',
      panelProblems: [],
      settingsProblems: [],
      settingsForm: 'Moved',
      moved: ['/moved', 'Moved'],
      tab: '?tab=events',
      rejected: true,
      rejectedProblems: [],
      jsonFields: 0,
      chipProblems: [],
      chipProblemsDark: [],
      filtered: [
        ['issue.*'],
        { and: [{ priority: ['high'] }, { not: { title: { contains: 'test' } } }, { team: ['ENG'] }] },
      ],
      complaints: [],
    });
  },
);

longTest(
  'a list shows the chosen fields, changes any number of issues at once, and updates a view',
  async () => {
    const seen = await runAt<Json>(scene!, 'lists-process.ts');
    const show = 'show=state,labels,project,cycle,dueDate,creator,updatedAt,assignee';
    expect(seen).toMatchObject({
      estimate: true,
      address: '',
      chosen: `?${show}`,
      hidden: 0,
      remembered: `?${show}&density=compact`,
      view: '?density=compact',
      sharedHeight: 30,
      others: '?density=compact',
      opensInApp: true,
      progress: expect.arrayContaining([expect.stringMatching(/^1000 of 15\d\d /)]),
      changed: true,
      undone: true,
      withoutChips: expect.stringContaining('filter={}'),
      reset: expect.not.stringContaining('filter='),
      updated: {},
      range: [1, 2, 3, 4],
      lane: [true, 'low'],
      complaints: [],
    });
  },
);

/** Everything that a person does at a screen of planning, and undoes there. */
const planning = {
  triage: {
    priority: true,
    team: true,
    labels: true,
    snooze: true,
    accept: true,
    duplicate: true,
    decline: true,
    filter: true,
  },
  boards: {
    byKey: true,
    byMenu: true,
    byMouse: true,
    opens: true,
    filter: {
      isUnchanged: true,
      stored: { and: [{ or: [{ team: 'ENG' }, { estimate: 1 }] }, { priority: { nin: ['none'] } }] },
    },
  },
  cycles: {
    sentence: '1 unfinished issue moves to NEXT.',
    rows: ['ID Unfinished work to NEXT'],
    moved: ['Unfinished work'],
  },
  projects: { edited: ['All is done', 'By somebody else'], others: 0, deleted: ['By somebody else'] },
  releases: { added: 2, left: 1 },
  sla: {
    created: { targetMinutes: 60, atRiskMinutes: 15, filter: { priority: ['urgent'] }, pausedIn: ['triage'] },
    changed: { targetMinutes: 120, enabled: false },
    left: 0,
  },
  templates: {
    created: {
      name: 'Bug report',
      team: null,
      title: 'Crash:',
      priority: 'high',
      subIssues: ['Write a test', 'Fix it'],
    },
    left: 0,
  },
};

for (const [screen, expected] of Object.entries(planning))
  longTest(
    `the work at the screen ${screen} is done by keyboard, with accessible dialogs that fit a phone`,
    async () => {
      const { done, problems } = await runAt<Json>(scene!, 'planning-process.ts', screen);
      expect(done).toEqual(expected);
      expect(problems).toEqual([]);
    },
  );
