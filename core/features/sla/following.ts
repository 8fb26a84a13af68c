// Effects of issue events on clocks, at the time of the event. The reaction processes every event; the timer
// processes those that the reaction has not reached. A clock stores the sequence of its last event, so no
// event counts twice.
import type { Change } from '../../kernel/changes/change.ts';
import type { Context, Directory } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import { renderData, type EventRow } from '../../kernel/events/event.ts';
import { tenantStatement, type SqlRow } from '../../platform/store/statement.ts';
import { type IssueResponse, issueFiltering, issueModel } from '../issues/index.ts';
import type { SlaKind, slaPolicy } from '../sla-policies/contract.ts';
import type { StateType } from '../workflows/contract.ts';
import { defineList } from '../../kernel/changes/sources.ts';
import { slaClock } from './contract.ts';
import { slaClockTable } from './tables.ts';
import {
  canceled,
  passed,
  paused,
  reached,
  resumed,
  started,
  type Counted,
  type SlaTerms,
} from './counting.ts';
import { clockModel, creatorOf, placeOf, type SlaClock } from './model.ts';
import type { Entry } from '../../kernel/contract/contract.ts';
import { parseFilter, type FilterFields } from '../../platform/lib/filter/filter.ts';
import { createSearched, passesOf, type Passes } from '../../platform/lib/filter/filter-match.ts';
import { weekOf } from '../calendars/index.ts';

const kinds: readonly SlaKind[] = ['first_response', 'resolution'];
const ofIssues: readonly string[] = [
  ...['issue.created', 'issue.updated', 'issue.moved', 'issue.deleted', 'issue.restored'],
];
const heeded: readonly string[] = [...ofIssues, 'comment.added'];

/**
 * Every change to an issue emits `issue.updated` before any more specific event, so other types need not be
 * listed.
 */
export function heeds(type: EventType): boolean {
  return heeded.includes(type);
}
export const heededTypes = heeded.map((type) => `'${type}'`).join(', ');

const ofIssue = slaClockTable.select('of_issue', ['id'], ['issue_id']);
const clocksOfIssue = defineList<string>(issueModel.source, 'sla_clocks', 'issue_id');
/** Open clocks, and those that processed the event or a later one. */
const clocksAt = tenantStatement<SqlRow>(
  'sla_clocks.of_issue_at',
  `SELECT ${clockModel.select} FROM sla_clocks WHERE workspace_id = :ws AND issue_id = :issueId
   AND (ended_at IS NULL OR sequence >= :sequence) ORDER BY created_at, id`,
);
const answered = tenantStatement<{ answered: number }>(
  'sla_clocks.is_answered',
  `SELECT 1 AS answered WHERE EXISTS (SELECT 1 FROM comments AS said INDEXED BY comments_issue
     WHERE said.workspace_id = :ws AND said.issue_id = :issueId AND said.created_at <= :at
       AND said.author_kind = 'user' AND said.author_id <> :creatorId)
   OR EXISTS (SELECT 1 FROM sla_clocks AS before INDEXED BY sla_clocks_issue
     WHERE before.workspace_id = :ws AND before.issue_id = :issueId AND before.kind = 'first_response' AND before.reached_at IS NOT NULL)`,
);

/**
 * Returns the changes of clocks by an event; empty if there are none or the event was processed.
 * @param only kind of the clocks
 */
export async function follow(ctx: Context, event: EventRow, only?: SlaKind): Promise<Change[]> {
  const { subjectId: issueId, sequence, type } = event;
  if (ctx.directory.slaPolicies.size === 0 || issueId === null) return [];
  const isNew = type === 'issue.created' && only === undefined;
  const clocks = isNew ? [] : await clocksOf(ctx, issueId, sequence);
  const changes: Change[] = [];
  for (const kind of only === undefined ? kinds : [only]) {
    const own = clocks.filter((clock) => clock.kind === kind);
    if (own.some((clock) => clock.sequence >= sequence)) continue;
    changes.push(...(await heed(ctx, event, kind, own[0])));
  }
  return changes;
}

async function clocksOf(ctx: Context, issueId: string, sequence: number): Promise<SlaClock[]> {
  const ids = await ctx.entities.through(clocksOfIssue, ctx.scope, issueId, async () =>
    (await ofIssue.all(ctx.store, ctx.scope, { issue_id: issueId })).map(({ id }) => id),
  );
  if (ids?.length === 0) return [];
  const rows = await ctx.store.read(ctx.scope, clocksAt, { issueId, sequence });
  return rows.map(clockModel.fromRow);
}

type PolicyEntry = Entry<typeof slaPolicy>;

const minuteMs = 60_000;
const inOrder = new WeakMap<Directory['slaPolicies'], readonly PolicyEntry[]>();
/** Compiled filters, keyed by the filter fields because a workspace adds custom ones. */
const tests = new WeakMap<FilterFields, WeakMap<PolicyEntry, Passes>>();

function policiesOf({ slaPolicies }: Directory): readonly PolicyEntry[] {
  const known = inOrder.get(slaPolicies);
  if (known) return known;
  const enabled = [...slaPolicies.values()].filter((policy) => policy.enabled && !policy.removed);
  const sorted = enabled.sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
  inOrder.set(slaPolicies, sorted);
  return sorted;
}

function testOf(directory: Directory, policy: PolicyEntry): Passes {
  const fields = issueFiltering.fieldsIn(directory);
  const cached = tests.get(fields) ?? new WeakMap<PolicyEntry, Passes>();
  tests.set(fields, cached);
  const known = cached.get(policy);
  if (known) return known;
  const passes = passesOf(parseFilter(policy.filter, fields, 'filter', { wasTaken: true }), fields);
  cached.set(policy, passes);
  return passes;
}

/**
 * Returns the first enabled policy of a kind whose filter matches. Sorted lists and compiled filters are cached until the
 * policies or the directory change, because every change of an issue is checked against all policies.
 * @param at time of the issue's state; policies created later do not apply
 */
function policyFor(
  directory: Directory,
  kind: SlaKind,
  issue: IssueResponse,
  at: number,
): PolicyEntry | undefined {
  const searched = createSearched();
  return policiesOf(directory).find(
    (policy) =>
      policy.kind === kind && policy.createdAt <= at && testOf(directory, policy)(issue, searched, at),
  );
}

function termsOf({ calendars }: Directory, policy: PolicyEntry): SlaTerms {
  const calendar = policy.calendarId === null ? undefined : calendars.get(policy.calendarId);
  return {
    targetMs: policy.targetMinutes * minuteMs,
    leadMs: policy.atRiskMinutes === null ? null : policy.atRiskMinutes * minuteMs,
    week: calendar ? weekOf(calendar) : null,
  };
}

function pausesIn({ pausedIn }: PolicyEntry, { id, type }: IssueResponse['state']): boolean {
  return pausedIn.includes(id) || pausedIn.includes(type);
}

async function heed(
  ctx: Context,
  event: EventRow,
  kind: SlaKind,
  clock: SlaClock | undefined,
): Promise<readonly Change[]> {
  if (event.type === 'comment.added') return clock ? heedComment(ctx, event, clock) : [];
  const issue = renderData(event) as object as IssueResponse;
  const policy = isOpen(issue) ? policyFor(ctx.directory, kind, issue, event.createdAt) : undefined;
  const start = (): Promise<readonly Change[]> | readonly Change[] =>
    policy ? startOf(ctx, event, policy, issue) : [];
  if (!clock) return start();
  const steps = stepsOf(ctx, clock, event);
  if (policy?.id === clock.policyId) return steps.pauseOrResume(issue);
  if (issue.deletedAt === null && issue.state.type === 'completed') return steps.reach();
  return [...steps.cancel(), ...(await start())];
}

const over: readonly StateType[] = ['completed', 'canceled', 'duplicate'];
const isOpen = ({ deletedAt, state }: IssueResponse): boolean =>
  deletedAt === null && !over.includes(state.type);

function heedComment(ctx: Context, event: EventRow, clock: SlaClock): readonly Change[] {
  const { author } = event.data as { readonly author: { readonly kind: string; readonly id: string } };
  const answers = clock.kind === 'first_response' && author.kind === 'user' && author.id !== creatorOf(clock);
  return answers ? stepsOf(ctx, clock, event).reach() : [];
}

/**
 * Returns functions that compute the changes of a clock by an event, after the changes that earlier due times
 * cause.
 */
function stepsOf(ctx: Context, clock: SlaClock, { createdAt: at, sequence }: EventRow) {
  const changes: Change[] = [];
  let now = clock;
  const step = (patch: Partial<Counted>): readonly Change[] => {
    const change = clockModel.update(now, { ...patch, sequence }, ctx.nowMs());
    if (change) {
      changes.push(change);
      now = change.after;
    }
    return changes;
  };
  const pass = (): void => {
    // An event exactly at the due time is in time.
    for (let next = passed(now, at - 1); next; next = passed(now, at - 1)) step(next);
  };
  const policy = ctx.directory.slaPolicies.get(clock.policyId);
  return {
    reach(): readonly Change[] {
      pass();
      return step(reached(now, at));
    },
    cancel(): readonly Change[] {
      pass();
      return step(canceled(now, at));
    },
    pauseOrResume({ state }: IssueResponse): readonly Change[] {
      if (!policy) return [];
      const terms = termsOf(ctx.directory, policy);
      const isPaused = pausesIn(policy, state);
      if (isPaused && now.state !== 'paused') {
        pass();
        if (now.state !== 'breached') step(paused(now, terms, at));
      } else if (!isPaused && now.state === 'paused') step(resumed(now, terms, at));
      return changes;
    },
  };
}

/**
 * Returns the change that starts a clock; empty if the issue was deleted since the event, or was already
 * answered.
 */
async function startOf(
  ctx: Context,
  { createdAt: at, sequence, type }: EventRow,
  policy: PolicyEntry,
  issue: IssueResponse,
): Promise<readonly Change[]> {
  const { kind } = policy;
  const live = await issueModel.find(ctx, issue.id);
  if (!live || live.deletedAt !== null) return [];
  if (kind === 'first_response' && type !== 'issue.created') {
    const params = { issueId: issue.id, at, creatorId: issue.creator.id };
    if (await ctx.store.readOne(ctx.scope, answered, params)) return [];
  }
  const now = ctx.nowMs();
  return [
    clockModel.create({
      id: ctx.ids.next(slaClock.id),
      issueId: issue.id,
      kind,
      policyId: policy.id,
      ...started(termsOf(ctx.directory, policy), at, pausesIn(policy, issue.state)),
      sequence,
      place: placeOf(live),
      createdAt: now,
      updatedAt: now,
    }),
  ];
}
