// Suggests rules from regularities in the event log of a workspace: a change that people usually make within a
// day of another one on the same issue. The counts are exact and involve no model.
import { Type } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import type { EventRow } from '../../kernel/events/event.ts';
import { firstSequenceSince, lastSequence, pageAfter } from '../../kernel/events/log/log.ts';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { scopeOf } from '../../platform/store/store.ts';
import { Closed, namedSchema } from '../../platform/lib/schema.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { readingIssues } from '../issues/index.ts';
import { automation } from './contract.ts';

const daysDefault = 90;
/** Limits of a request: events read, issues tracked at a time, and suggestions returned. */
const eventsMax = 50_000;
const issuesMax = 20_000;
const suggestionsMax = 20;
const pageEvents = 500;
/** Least number of occasions, and least percentage of them that people followed in the same way. */
const timesMin = 10;
const percentMin = 80;
const withinMs = dayMs;

const { trigger, actions } = automation.fields;
const Suggestion = namedSchema(
  'AutomationSuggestion',
  Closed({
    text: Type.String({ description: 'Regularity in words.' }),
    times: Type.Integer({ description: 'Number of occasions.' }),
    percent: Type.Number({ description: 'Percentage of the occasions after which people made the change.' }),
    rule: Closed(
      { name: automation.fields.name.response, trigger: trigger.response, actions: actions.response },
      {
        description:
          'Body for `POST /api/v1/automations`; backtest it with `POST /api/v1/automations/preview`.',
      },
    ),
  }),
);
const Suggestions = Closed({
  data: Type.Array(Suggestion, { description: 'Suggested rules, most frequent first.' }),
});
const Range = Closed({
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 365, description: 'Number of days to read; default 90.' }),
  ),
});

/** Value of a field, with the words and the value that a rule uses. */
interface Fact {
  /** Field and value, for comparison. */
  readonly key: string;
  readonly field: string;
  readonly name: string;
  readonly value: unknown;
}

interface Occasion {
  readonly fact: Fact;
  /** True for a value of a new issue, false for a change. */
  readonly isNew: boolean;
  readonly atMs: number;
  /** Changes that were counted for the occasion. */
  readonly followed: Set<string>;
}

interface Regularity {
  readonly occasion: Pick<Occasion, 'fact' | 'isNew'>;
  readonly change: Fact;
  times: number;
}

const fields = ['labels', 'priority', 'assignee', 'project', 'state', 'team'] as const;
const words: Readonly<Record<string, string>> = { labels: 'label' };

async function suggestRules(ctx: Context, days: number) {
  const counter = createCounter();
  const end = await lastSequence(ctx.store, ctx.scope);
  const first = await firstSequenceSince(ctx.store, ctx.scope, ctx.nowMs() - days * dayMs, end);
  let read = 0;
  for (let after = first - 1, more = true; more && read < eventsMax;) {
    const page = await pageAfter(ctx.store, ctx.scope, after, {
      limit: pageEvents,
      matches: ({ type, actor }) =>
        (type === 'issue.created' || type === 'issue.updated') &&
        (actor.kind === 'user' || actor.kind === 'api_key'),
    });
    const account = scopeOf(ctx.workspaceId, ctx.actor.id);
    await ctx.fairQueue.run(account, () => page.events.forEach(counter.add));
    read += page.examined;
    after = page.through;
    ({ more } = page);
  }
  return { data: counter.suggestions() };
}

function createCounter() {
  const open = new Map<string, Occasion[]>();
  const occasions = new Map<string, number>();
  const regularities = new Map<string, Regularity>();

  const note = (issueId: string, fact: Fact, isNew: boolean, atMs: number): void => {
    const key = `${String(isNew)} ${fact.key}`;
    occasions.set(key, (occasions.get(key) ?? 0) + 1);
    const list = open.get(issueId) ?? [];
    list.push({ fact, isNew, atMs, followed: new Set() });
    open.delete(issueId);
    open.set(issueId, list);
    if (open.size > issuesMax) open.delete(open.keys().next().value!);
  };

  const follow = (issueId: string, change: Fact, atMs: number): void => {
    for (const { fact, isNew, atMs: since, followed } of open.get(issueId) ?? []) {
      if (fact.field === change.field || atMs - since > withinMs || followed.has(change.key)) continue;
      followed.add(change.key);
      const key = `${String(isNew)} ${fact.key} ${change.key}`;
      const known = regularities.get(key) ?? { occasion: { fact, isNew }, change, times: 0 };
      regularities.set(key, known);
      known.times++;
    }
  };

  return {
    add({ data, entityId, createdAt }: EventRow): void {
      const previous = (data.previous ?? null) as EventRow['data'] | null;
      const changed = previous ? fields.filter((field) => field in previous) : fields;
      const facts = changed.flatMap((field) => factsOf(field, data[field], previous?.[field]));
      if (previous) for (const fact of facts) follow(entityId, fact, createdAt);
      for (const fact of facts) note(entityId, fact, previous === null, createdAt);
    },
    suggestions: () =>
      [...regularities.values()]
        .flatMap(({ occasion, change, times }) => {
          const all = occasions.get(`${String(occasion.isNew)} ${occasion.fact.key}`) ?? times;
          const percent = Math.round((1000 * times) / all) / 10;
          if (all < timesMin || percent < percentMin) return [];
          return [suggestionOf(occasion, change, all, percent)];
        })
        .toSorted((a, b) => b.times * b.percent - a.times * a.percent)
        .slice(0, suggestionsMax),
  };
}

/** Returns the values that a field has and did not have before; none for an empty value. */
function factsOf(field: string, after: unknown, before: unknown): Fact[] {
  const factOf = (value: unknown): Fact[] => {
    const { id, name, key } = (value ?? {}) as { id?: string; name?: string; key?: string };
    const word = typeof value === 'string' ? value : (key ?? name);
    if (value === null || value === undefined || word === undefined || word === 'none') return [];
    return [{ key: `${field} ${id ?? word}`, field, name: word, value: id ?? word }];
  };
  if (!Array.isArray(after)) return factOf(after);
  const had = new Set((Array.isArray(before) ? before : []).map((one: { id?: string }) => one.id));
  return after.filter((one: { id?: string }) => !had.has(one.id)).flatMap(factOf);
}

function suggestionOf(
  { fact, isNew }: Pick<Occasion, 'fact' | 'isNew'>,
  change: Fact,
  times: number,
  percent: number,
) {
  const filter = { [words[fact.field] ?? fact.field]: fact.name };
  const when = `${words[fact.field] ?? fact.field} ${fact.name}`;
  const then = `${words[change.field] ?? change.field} ${change.name}`;
  const action =
    change.field === 'labels'
      ? { type: 'add', field: 'labels', values: [change.name] }
      : change.field === 'team'
        ? { type: 'move', team: change.name }
        : { type: 'set', fields: { [change.field]: change.value } };
  return {
    text: `${isNew ? `New issues with ${when}` : `After a change to ${when}`}: people set ${then} within a day in ${percent} % of ${times} cases.`,
    times,
    percent,
    rule: {
      name: `${capitalized(when)}: set ${then}`.slice(0, 120),
      trigger: isNew
        ? { type: 'event', event: 'issue.created', filter }
        : { type: 'event', event: 'issue.updated', to: filter },
      actions: [action],
    },
  };
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const suggestionRoute: Route = defineRoute({
  method: 'POST',
  path: '/api/v1/automations/suggestions',
  name: 'automations.suggest',
  summary: 'Suggest automations from changes that people repeat',
  description:
    'Counts, in the event log, changes that people made within a day of another change of the same issue. Nothing is stored.',
  scope: 'automations:read',
  also: readingIssues,
  limit: 'read',
  body: Range,
  example: { days: 90 },
  responses: { 200: Suggestions },
  read: (ctx, { body }) => suggestRules(ctx, body.days ?? daysDefault),
});
