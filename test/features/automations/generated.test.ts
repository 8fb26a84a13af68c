// Generated rules start for exactly the events that a naive interpreter of their triggers accepts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { v1 } from './rules.ts';

const isLong = process.env.TATAMI_LONG !== undefined;
/** Rules and changes of each workspace, and number of workspaces; a workspace can have 500 rules. */
const [rulesEach, changesEach, workspaces] = isLong ? [500, 500, 2] : [60, 60, 1];
const seed = 31;

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const priorities = ['none', 'low', 'medium', 'high', 'urgent'] as const;
const words = ['crash', 'login', 'slow', 'wish'] as const;

interface IssueData {
  readonly title: string;
  readonly priority: (typeof priorities)[number];
  readonly estimate: number | null;
}

const priority = fc.constantFrom(...priorities);
const estimate = fc.integer({ min: 0, max: 5 });
const condition = fc.oneof(
  fc.record({ priority: fc.uniqueArray(priority, { minLength: 1, maxLength: 2 }) }),
  fc.record({ priority: fc.record({ gte: priority }) }),
  fc.record({ estimate }),
  fc.record({ estimate: fc.record({ lt: estimate }) }),
  fc.record({ estimate: fc.record({ null: fc.boolean() }) }),
  fc.record({ title: fc.record({ contains: fc.constantFrom(...words) }) }),
);
const { filter } = fc.letrec<{ filter: object }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small' },
    { weight: 4, arbitrary: condition },
    { weight: 1, arbitrary: fc.record({ and: fc.array(tie('filter'), { minLength: 1, maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ or: fc.array(tie('filter'), { minLength: 1, maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ not: tie('filter') }) },
  ),
}));
const fields = fc.uniqueArray(fc.constantFrom('title', 'priority', 'estimate'), {
  minLength: 1,
  maxLength: 2,
});
const trigger = fc.oneof(
  fc.record({ type: fc.constant('event'), event: fc.constant('issue.created'), filter }),
  fc.record(
    {
      type: fc.constant('event'),
      event: fc.constant('issue.updated'),
      filter,
      changed: fields,
      from: filter,
      to: filter,
    },
    { requiredKeys: ['type', 'event'] },
  ),
);
const values = fc.record(
  { title: fc.constantFrom(...words), priority, estimate: fc.option(estimate) },
  { requiredKeys: [] },
);

/** Evaluates a filter by its definition in docs/spec/api.md › Filters. */
function matches(tree: Json, data: IssueData): boolean {
  return Object.entries<Json>(tree).every(([name, test]) => {
    if (name === 'and') return test.every((one: Json) => matches(one, data));
    if (name === 'or') return test.some((one: Json) => matches(one, data));
    if (name === 'not') return !matches(test, data);
    const value = data[name as keyof IssueData];
    if (Array.isArray(test)) return test.includes(value);
    if (typeof test !== 'object') return value === test;
    if ('null' in test) return (value === null) === test.null;
    if (value === null) return false;
    if ('contains' in test) return String(value).includes(test.contains);
    if ('gte' in test) return priorities.indexOf(value as 'none') >= priorities.indexOf(test.gte);
    return value < test.lt;
  });
}

function starts(rule: Json, type: string, data: IssueData, previous: Partial<IssueData> | null): boolean {
  if (rule.event !== type) return false;
  const before = { ...data, ...previous };
  const [was, is] = [(one: Json) => matches(one, before), (one: Json) => matches(one, data)];
  if (rule.filter && !is(rule.filter)) return false;
  if (rule.changed && !rule.changed.some((field: string) => field in (previous ?? {}))) return false;
  if (rule.from && rule.to) return was(rule.from) && is(rule.to);
  if (rule.from) return was(rule.from) && !is(rule.from);
  return !rule.to || (is(rule.to) && !was(rule.to));
}

async function compareIn(call: TestApp['call'], team: string, at: number): Promise<number> {
  const triggers = fc.sample(trigger, { seed: seed + at, numRuns: rulesEach });
  const rules: { id: string; trigger: Json }[] = [];
  for (const one of triggers) {
    const body = {
      name: `Rule ${rules.length}`,
      trigger: one,
      mode: 'simulate',
      actions: [{ type: 'comment', body: 'Seen' }],
    };
    const created = await call('POST', `${v1}/automations`, body);
    // Conditions that contradict each other are refused.
    if (created.status === 422) continue;
    expect([one, created.status]).toEqual([one, 201]);
    const { status } = await call('POST', `${v1}/automations/${created.json.id}/enable`, { force: true });
    expect(status).toBe(200);
    rules.push({ id: created.json.id, trigger: one });
  }
  const changes = fc.sample(values, { seed: seed + at, numRuns: changesEach });
  const ids: string[] = [];
  for (const [index, change] of changes.entries()) {
    const isNew = index % 3 === 0;
    const path = isNew ? `${v1}/issues` : `${v1}/issues/${ids[index % ids.length]}`;
    const { json, status } = await call(
      isNew ? 'POST' : 'PATCH',
      path,
      isNew ? { team, title: 'start', ...change } : change,
    );
    expect([status, json]).toMatchObject([isNew ? 201 : 200, {}]);
    if (isNew) ids.push(json.id);
  }
  await app.settled();
  const events = await issueEvents(call);
  let started = 0;
  for (const rule of rules) {
    const wanted = events
      .filter(({ type, data: { previous, ...data } }) => starts(rule.trigger, type, data, previous ?? null))
      .map(({ id }) => id);
    const runs = await runsOf(call, rule.id);
    expect([rule.trigger, runs.toSorted()]).toEqual([rule.trigger, wanted.toSorted()]);
    started += wanted.length;
  }
  return started;
}

async function issueEvents(call: TestApp['call']): Promise<Json[]> {
  const all: Json[] = [];
  for (let after = 0, more = true; more;) {
    const { data, pageInfo } = (await call('GET', `${v1}/events?limit=100&after=${after}`)).json;
    all.push(...data.filter(({ type }: Json) => type === 'issue.created' || type === 'issue.updated'));
    after = data.at(-1)?.sequence ?? after;
    more = pageInfo.hasNextPage;
  }
  return all;
}

async function runsOf(call: TestApp['call'], id: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ''; ;) {
    const { data, pageInfo } = (await call('GET', `${v1}/plugins/${id}/runs?limit=100${after}`)).json;
    ids.push(...data.map(({ eventId }: Json) => eventId));
    if (!pageInfo.hasNextPage) return ids;
    after = `&after=${encodeURIComponent(pageInfo.endCursor)}`;
  }
}

test(`${rulesEach * workspaces} generated rules start for the events that a naive interpreter accepts (seed ${seed})`, async () => {
  let started = 0;
  for (let at = 0; at < workspaces; at++) {
    const other = at === 0 ? null : await app.addWorkspace(`Other ${at}`, 'OTH');
    const call = other ? app.clientOf(other.apiKey) : app.call;
    started += await compareIn(call, other?.teamKey ?? 'ENG', at);
  }
  expect(started).toBeGreaterThan(rulesEach);
}, 600_000);
