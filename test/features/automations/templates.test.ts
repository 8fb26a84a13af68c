// Creates every template through the API, and checks that it does what its description says.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { filledTemplate, listTemplates } from '../../../core/features/automations/templates.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { enabled, getIssue, v1, type RuleInput } from './rules.ts';

const dayMs = 86_400_000;
let app: TestApp;
let teams = 0;
/** Key of the team of the test. */
let team: string;
let since: number;

beforeAll(async () => {
  app = await startApp();
  for (const name of ['stale', 'release notes']) await create('/labels', { name });
});
afterAll(() => app.stop());
beforeEach(async () => {
  team = `T${++teams}`;
  await create('/teams', { key: team });
  since = await app.lastSequence();
});

async function create(path: string, body: object): Promise<Json> {
  const { status, json } = await app.call('POST', v1 + path, body);
  expect([path, status < 300, json.error]).toEqual([path, true, undefined]);
  await app.settled();
  return json;
}
const issueOf = (fields: object = {}): Promise<Json> =>
  create('/issues', { team, title: 'Crash on save', ...fields });
async function patch({ id }: Json, body: object): Promise<Json> {
  const { status, json } = await app.call('PATCH', `${v1}/issues/${id}`, body);
  expect([status, json.error]).toEqual([200, undefined]);
  await app.settled();
  return json;
}
async function advance(ms: number): Promise<void> {
  app.clock.advance(ms);
  await app.settled();
}
/** Returns the time until the next Monday at nine. */
function untilMonday(): number {
  const at = new Date(app.clock.now());
  const days = (8 - at.getUTCDay()) % 7 || 7;
  return at.setUTCHours(9 + 24 * days, 0, 0, 0) - app.clock.now();
}
const now = ({ id }: Json): Promise<Json> => getIssue(app, id);
const typeOf = async (issue: Json): Promise<string> => (await now(issue)).state.type;
const labelsOf = async (issue: Json): Promise<string[]> =>
  (await now(issue)).labels.map(({ name }: Json) => name);
const commentsOn = async ({ id }: Json): Promise<string[]> =>
  (await app.call('GET', `${v1}/issues/${id}/comments`)).json.data.map(({ body }: Json) => body);
const issuesWith = async (query: string): Promise<Json[]> =>
  (await app.call('GET', `${v1}/issues?team=${team}&${query}`)).json.data;

/** Returns the types of the events that the rule caused. */
async function eventsBy(rule: Json): Promise<string[]> {
  const { data } = (await app.call('GET', `${v1}/events?limit=100&after=${since}`)).json;
  return data.filter(({ actor }: Json) => actor.id === rule.id).map(({ type }: Json) => type);
}

interface Case {
  /** Values of the placeholders. */
  readonly set?: () => Record<string, string>;
  /** Creates objects before the rule is enabled. */
  readonly before?: () => Promise<unknown>;
  /** Checks the effects. */
  readonly check: (before: Json) => Promise<void>;
  /** Event that the rule causes. */
  readonly event: string;
}

const cases: Readonly<Record<string, Case>> = {
  'close-parent': {
    async check() {
      const parent = await issueOf();
      const [first, second] = [
        await issueOf({ parentId: parent.id }),
        await issueOf({ parentId: parent.id }),
      ];
      await patch(first!, { state: 'completed' });
      expect(await typeOf(parent)).not.toBe('completed');
      await patch(second!, { state: 'canceled' });
      expect(await typeOf(parent)).toBe('completed');
    },
    event: 'issue.state_changed',
  },
  'close-sub-issues': {
    async check() {
      const parent = await issueOf();
      const open = await issueOf({ parentId: parent.id });
      const canceled = await issueOf({ parentId: parent.id, state: 'canceled' });
      await patch(parent, { state: 'completed' });
      expect([await typeOf(open), await typeOf(canceled)]).toEqual(['completed', 'canceled']);
    },
    event: 'issue.state_changed',
  },
  'stale-warning': {
    before: issueOf,
    async check(issue) {
      await advance(13 * dayMs);
      expect(await labelsOf(issue)).toEqual([]);
      await advance(2 * dayMs);
      expect(await labelsOf(issue)).toEqual(['stale']);
      expect(await commentsOn(issue)).toEqual([expect.stringContaining(`${issue.identifier} for some time`)]);
    },
    event: 'issue.labeled',
  },
  'stale-close': {
    before: () => issueOf({ labels: ['stale'] }),
    async check(issue) {
      const other = await issueOf();
      await advance(8 * dayMs);
      expect([await typeOf(issue), await commentsOn(issue)]).toEqual(['canceled', [expect.any(String)]]);
      expect(await typeOf(other)).toBe('backlog');
    },
    event: 'issue.state_changed',
  },
  'stale-activity': {
    async check() {
      const issue = await issueOf({ labels: ['stale', 'bug'] });
      await create(`/issues/${issue.id}/comments`, { body: 'Still needed.' });
      expect(await labelsOf(issue)).toEqual(['bug']);
    },
    event: 'issue.labeled',
  },
  'recurring-issue': {
    set: () => ({ team, title: 'Weekly review' }),
    async check() {
      await advance(untilMonday());
      await advance(7 * dayMs);
      const created = await issuesWith('limit=10&sort=createdAt');
      expect(created.map(({ title }) => title)).toEqual(['Weekly review', 'Weekly review']);
      for (const { createdAt, description } of created) {
        const [day, time] = createdAt.split('T');
        expect([new Date(createdAt).getUTCDay(), time]).toEqual([1, '09:00:00.000Z']);
        expect(description).toStartWith(`Created on ${day} by the automation `);
      }
    },
    event: 'issue.created',
  },
  'sla-escalation': {
    before: () => create('/sla-policies', { name: 'Fast', targetMinutes: 60, filter: { team } }),
    async check(policy) {
      const issue = await issueOf();
      await advance(61 * 60_000);
      expect((await now(issue)).priority).toBe('urgent');
      expect(await commentsOn(issue)).toEqual([expect.stringContaining('The SLA Fast was due at 20')]);
      await app.call('DELETE', `${v1}/sla-policies/${policy.id}`);
    },
    event: 'issue.updated',
  },
  'route-by-label': {
    before: () => create('/teams', { key: `R${teams}` }),
    set: () => ({ label: 'bug', team: `R${teams}` }),
    async check() {
      const issue = await issueOf();
      await patch(issue, { labels: ['bug'] });
      expect((await now(issue)).team.key).toBe(`R${teams}`);
    },
    event: 'issue.moved',
  },
  'first-reply': {
    async check() {
      const [bug, question] = [await issueOf({ labels: ['bug'] }), await issueOf({ labels: ['question'] })];
      expect(await commentsOn(bug!)).toEqual([expect.stringContaining(`The team ${team} reviews`)]);
      expect(await commentsOn(question!)).toEqual([]);
    },
    event: 'comment.added',
  },
  'duplicate-merge': {
    async check() {
      const original = await issueOf({ labels: ['question'] });
      const copy = await issueOf({ title: 'Saving crashes', labels: ['bug'] });
      await create(`/issues/${copy.id}/relations`, { type: 'duplicate_of', issueId: original.id });
      expect((await labelsOf(original)).toSorted()).toEqual(['bug', 'question']);
      expect(await commentsOn(original)).toEqual([
        expect.stringContaining(`reported this as well, in ${copy.identifier}: Saving crashes`),
      ]);
    },
    event: 'issue.labeled',
  },
  'release-notes-draft': {
    async check() {
      const draft = await issueOf({ title: 'Notes', labels: ['release notes'], description: 'Fixes:' });
      const done = [await issueOf({ title: 'Save faster' }), await issueOf({ title: 'Open faster' })];
      for (const issue of done) await patch(issue, { state: 'completed' });
      const [first, second] = done.map(({ identifier }) => identifier);
      expect((await now(draft)).description).toBe(
        `Fixes:\n- Save faster (${first})\n- Open faster (${second})`,
      );
    },
    event: 'issue.updated',
  },
  'shipped-comment': {
    async check() {
      const [shipped, other] = [await issueOf(), await issueOf()];
      const pipeline = await create('/pipelines', { name: team, team });
      const release = await create('/releases', { name: 'Spring', tag: '2.0', pipelineId: pipeline.id });
      await create(`/releases/${release.id}/issues`, { issueIds: [shipped!.id] });
      await create(`/releases/${release.id}/publish`, {});
      expect([await commentsOn(shipped!), await commentsOn(other!)]).toEqual([['Released in Spring.'], []]);
    },
    event: 'comment.added',
  },
  'blocked-comment': {
    async check() {
      const [blocker, blocked] = [await issueOf(), await issueOf()];
      await create(`/issues/${blocker!.id}/relations`, { type: 'blocks', issueId: blocked!.id });
      expect(await commentsOn(blocked!)).toEqual([`Blocked by ${blocker!.identifier}.`]);
      expect(await commentsOn(blocker!)).toEqual([]);
    },
    event: 'comment.added',
  },
  'unblocked-comment': {
    async check() {
      const [blocker, blocked] = [await issueOf(), await issueOf()];
      await create(`/issues/${blocker!.id}/relations`, { type: 'blocks', issueId: blocked!.id });
      await patch(blocker!, { state: 'completed' });
      expect(await commentsOn(blocked!)).toEqual([
        `${blocker!.identifier} no longer blocks this issue: it is completed.`,
      ]);
    },
    event: 'comment.added',
  },
  'reopen-on-comment': {
    async check() {
      const issue = await issueOf({ state: 'completed' });
      await create(`/issues/${issue.id}/comments`, { body: 'It still crashes.' });
      expect(await typeOf(issue)).toBe('unstarted');
    },
    event: 'issue.state_changed',
  },
  'priority-by-keyword': {
    async check() {
      const [hit, low, other] = [
        await issueOf({ description: 'A total Outage since noon.' }),
        await issueOf({ title: 'Outage', priority: 'low' }),
        await issueOf(),
      ];
      const priorities = await Promise.all(
        [hit, low, other].map(async (issue) => (await now(issue!)).priority),
      );
      expect(priorities).toEqual(['urgent', 'low', 'none']);
    },
    event: 'issue.updated',
  },
  'remind-assignee': {
    async check() {
      const dueDate = new Date(app.clock.now() + 4 * dayMs).toISOString().slice(0, 10);
      const [due, free] = [
        await issueOf({ dueDate, assigneeId: app.workspace.userId }),
        await issueOf({ dueDate }),
      ];
      await advance(7 * dayMs);
      expect(await commentsOn(due!)).toEqual([`@${app.workspace.userId}, this issue is due on ${dueDate}.`]);
      expect(await commentsOn(free!)).toEqual([]);
    },
    event: 'comment.added',
  },
  'cycle-carry-over': {
    async check() {
      const { data } = (await app.call('GET', `${v1}/teams`)).json;
      const { id } = data.find(({ key }: Json) => key === team);
      const { status } = await app.call('PATCH', `${v1}/teams/${id}`, {
        cycles: { weeks: 1, startsOn: 'monday', cooldownWeeks: 0, ahead: 2, rollsOver: true },
      });
      expect(status).toBe(200);
      await app.settled();
      await advance(8 * dayMs);
      const { data: cycles } = (await app.call('GET', `${v1}/cycles?team=${team}&status=active`)).json;
      const issue = await issueOf({ cycleId: cycles[0].id });
      await advance(7 * dayMs);
      const { name } = (await now(issue)).cycle;
      expect(await commentsOn(issue)).toEqual([`Carried over from ${cycles[0].name} to ${name}.`]);
    },
    event: 'comment.added',
  },
  'on-call-round-robin': {
    before: async () => {
      const { json } = await app.call('POST', `${v1}/members`, { name: 'Ana', role: 'member' });
      return json;
    },
    set: () => ({ members: `Ana, ${app.workspace.userId}` }),
    async check() {
      const urgent = [];
      for (let at = 0; at < 3; at++) urgent.push(await issueOf({ priority: 'urgent' }));
      const assignees = await Promise.all(urgent.map(async (issue) => (await now(issue)).assignee.name));
      expect(assignees).toEqual(['Ana', 'Acme owner', 'Ana']);
      expect((await now(await issueOf())).assignee).toBeNull();
    },
    event: 'issue.assigned',
  },
  checklist: {
    async check() {
      const issue = await issueOf({ title: 'Export', labels: ['feature'] });
      const subIssues = await issuesWith(`parent=${issue.id}`);
      expect(subIssues.map(({ title }) => title).toSorted()).toEqual([
        'Build: Export',
        'Design: Export',
        'Document: Export',
      ]);
    },
    event: 'issue.created',
  },
};

test('every template has a check', () => {
  expect(Object.keys(cases).toSorted()).toEqual(listTemplates().map(({ id }) => id));
});

test.each(Object.entries(cases))(
  'the template %s does what its description says',
  async (id, one) => {
    const before = await one.before?.();
    const file = Bun.YAML.parse(filledTemplate(id, one.set?.() ?? {})) as RuleInput;
    const rule = await enabled(app, file);
    since = await app.lastSequence();
    await one.check(before);
    expect(await eventsBy(rule)).toContain(one.event);
    const runs = (await app.call('GET', `${v1}/plugins/${rule.id}/runs?limit=100`)).json.data;
    expect(runs.filter(({ status }: Json) => status !== 'succeeded')).toEqual([]);
    await app.call('DELETE', `${v1}/automations/${rule.id}`);
  },
  30_000,
);

test('the API lists the templates with a rule that the defaults complete', async () => {
  const { data } = (await app.call('GET', `${v1}/automations/templates`)).json;
  expect(data.map(({ id }: Json) => id)).toEqual(Object.keys(cases).toSorted());
  for (const { id, needs, rule } of data) {
    if (Object.values(needs).some((need) => (need as Json).default === null)) continue;
    const {
      trigger,
      conditions = {},
      issues = null,
      actions,
      mode,
    } = Bun.YAML.parse(filledTemplate(id, {})) as Json;
    expect({ id, ...rule }).toEqual({ id, trigger, conditions, issues, actions, mode });
  }
  expect(data.find(({ id }: Json) => id === 'stale-close').needs.label).toMatchObject({
    ...{ default: 'stale', list: false, paths: ['conditions.issue.label'] },
  });
});

test('a value at the paths of a placeholder yields the same rule as the command', async () => {
  const { data } = (await app.call('GET', `${v1}/automations/templates`)).json;
  for (const { id, needs, rule } of data) {
    const set: Record<string, string> = {};
    for (const [name, need] of Object.entries<Json>(needs)) {
      const value = need.list
        ? ['Ana', 'Ben: B']
        : typeof need.default === 'number'
          ? 21
          : `# $label ${name}: 'x'`;
      set[name] = String(value).replace(',', ', ');
      expect([id, name, need.paths.length]).not.toEqual([id, name, 0]);
      for (const path of need.paths) {
        const keys: string[] = path.split('.');
        const last = keys.pop()!;
        const parent = keys.reduce((part, key) => part[key], rule);
        parent[last] = value;
      }
    }
    const {
      trigger,
      conditions = {},
      issues = null,
      actions,
      mode,
    } = Bun.YAML.parse(filledTemplate(id, set)) as Json;
    expect({ id, ...rule }).toEqual({ id, trigger, conditions, issues, actions, mode });
  }
});
