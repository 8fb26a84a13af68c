// Compares what an automation wrote, by its runs and its approved proposals, with what others did about it: people who
// overruled it, and others that wrote the same fields.
import type { Context } from '../../../kernel/context.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { findEvent, pageOfSubject } from '../../../kernel/events/log/log.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
import { short } from '../../../kernel/changes/change.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Automation } from '../../automations/index.ts';
import { isRuleId } from '../../automations/contract.ts';
import { isSame } from '../trial/comparisons.ts';
import { findBacktest } from '../trial/rows.ts';
import type { BacktestReport } from '../trial/schema.ts';
import { storedChangesOf } from '../undo/stored-changes.ts';
import type { AutomationHealth } from './health.ts';

/** Limits of what one request reads. */
const proposalsMax = 200;
const eventsMax = 200;
const eventsPerIssue = 200;
const examplesMax = 5;
/** Distance in the log within which events of an issue are looked up. */
const sequencesBefore = 10_000;

/** Without proposals that the server closed, because nothing was left to change. */
const decided = tenantStatement<{ id: string; status: string; events_json: string; decided_at: number }>(
  'proposals.of_health',
  `SELECT id, status, events_json, decided_at FROM proposals WHERE workspace_id = :ws AND install_id = :id
     AND decided_at > :since AND decided_by_id IS NOT NULL ORDER BY decided_at DESC LIMIT ${proposalsMax}`,
);

/** A run or an approved proposal, with the events of its changes as JSON. */
interface Source {
  readonly id: string;
  readonly events_json: string;
}

/** A field of an issue that the automation wrote, or would have written. */
interface Write {
  /** Identifies the source and the issue, which count as one change. */
  readonly change: string;
  readonly issue: AutomationHealth['overruled']['examples'][number]['issue'];
  readonly field: string;
  readonly before: unknown;
  readonly value: unknown;
  readonly atMs: number;
  readonly sequence: number;
}

/** Numbers of changes, and of those that people overruled. */
export interface Judged {
  readonly changes: number;
  readonly overruled: number;
}

interface Surroundings {
  readonly basis: AutomationHealth['basis'];
  readonly judged: Judged;
  /** Overruled fields, newest first. */
  readonly reversed: AutomationHealth['overruled']['examples'];
  readonly conflicts: AutomationHealth['conflicts'];
  /** Time of the last approval in milliseconds; 0 if there is none. */
  readonly approvedAt: number;
}

interface Written {
  readonly runs: readonly Source[];
  readonly sinceMs: number;
  /** Backtest whose conflicts stand for those of an automation that has not written yet; none if they are not wanted. */
  readonly backtest?: Automation['backtest'];
}

/** Compares the changes of an automation with those of others. */
export async function lookAround(
  ctx: Context,
  automation: Automation,
  { runs, sinceMs, backtest = null }: Written,
): Promise<Surroundings> {
  const { id, stepDown } = automation;
  const proposals = await ctx.store.read(ctx.scope, decided, { id, since: sinceMs });
  const approved = proposals.filter(({ status }) => status === 'approved' || status === 'partly_approved');
  const rejected = proposals.filter(
    ({ status, decided_at }) => status === 'rejected' && decided_at > ctx.nowMs() - stepDown.days * dayMs,
  ).length;
  const { changes, writes } = await changesOf(ctx, [...runs, ...approved], id);
  const undone = await undoneAmong(ctx, new Set(changes.values()));
  // A backtest shows conflicts, but nobody has overruled what it would have done.
  const foreseen = changes.size === 0 ? await writesOfBacktest(ctx, backtest) : null;
  const { conflicts, reversed } = await compare(ctx, automation, foreseen ?? writes);
  const overruled = new Set(foreseen ? [] : reversed.map(({ write }) => write.change));
  for (const [change, source] of changes) if (undone.has(source)) overruled.add(change);
  return {
    basis: foreseen ? 'backtest' : 'runs',
    judged: { changes: changes.size + rejected, overruled: overruled.size + rejected },
    reversed: foreseen ? [] : reversed.slice(0, examplesMax).map(({ example }) => example),
    conflicts,
    approvedAt: approved[0]?.decided_at ?? 0,
  };
}

/** Events about the work of a rule, which change no object that it acts on. */
const isAboutWork = (type: string): boolean => /^(automation|inbox)\./.test(type);

/** Returns each change with the id of its source, and the written fields. */
async function changesOf(ctx: Context, sources: readonly Source[], ruleId: string) {
  const changes = new Map<string, string>();
  // Several events of a source name the same field.
  const writes = new Map<string, Write>();
  let read = 0;
  for (const source of sources)
    for (const one of JSON.parse(source.events_json) as { id: string; type: string }[]) {
      if (isAboutWork(one.type)) continue;
      if (read++ >= eventsMax) return { changes, writes: [...writes.values()] };
      const event = await findEvent(ctx.store, ctx.scope, one.id);
      if (event?.actor.id !== ruleId) continue;
      const change = `${source.id} ${event.subjectId ?? event.entityId}`;
      changes.set(change, source.id);
      if (event.entityType === 'issue')
        for (const write of writesIn(event, change)) writes.set(`${change} ${write.field}`, write);
    }
  return { changes, writes: [...writes.values()] };
}

function writesIn({ data, createdAt, sequence, entityId }: EventRow, change: string): Write[] {
  const { identifier = null, previous = {} } = data as { identifier?: string | null; previous?: object };
  return Object.entries(previous).map(([field, before]) => ({
    change,
    issue: { id: entityId, identifier },
    field,
    before,
    value: data[field],
    atMs: createdAt,
    sequence,
  }));
}

/** Returns the sources whose changes are undone, comments and created objects included. */
async function undoneAmong(ctx: Context, sources: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const rows = await storedChangesOf(ctx.store, ctx.scope, [...sources]);
  return new Set(rows.flatMap(({ id, undone_by }) => (undone_by === null ? [] : id)));
}

async function writesOfBacktest(ctx: Context, backtest: Automation['backtest']): Promise<Write[] | null> {
  const row = backtest && (await ctx.store.readOne(ctx.scope, findBacktest, { id: backtest.id }));
  if (!row?.report_json) return null;
  const { effects } = JSON.parse(row.report_json) as BacktestReport;
  return effects.slice(0, eventsMax).map(({ issueId, field, before, wouldBe, at: time, sequence }) => ({
    change: `${sequence} ${issueId}`,
    issue: { id: issueId, identifier: null },
    field,
    before,
    value: wouldBe,
    atMs: Date.parse(time),
    sequence,
  }));
}

type Conflict = AutomationHealth['conflicts'][number];
type Conflicts = Map<string, { readonly conflict: Conflict; readonly issues: Set<string> }>;

interface Reversal {
  readonly write: Write;
  readonly example: AutomationHealth['overruled']['examples'][number];
}

/** Reads the events around the writes of an automation, once per issue. */
async function compare(
  ctx: Context,
  automation: Automation,
  writes: readonly Write[],
): Promise<{ readonly conflicts: Conflict[]; readonly reversed: readonly Reversal[] }> {
  const conflicts: Conflicts = new Map();
  const reversed: Reversal[] = [];
  for (const [issueId, own] of Map.groupBy(writes, (one) => one.issue.id)) {
    const first = Math.min(...own.map(({ sequence }) => sequence));
    const page = await pageOfSubject(ctx.store, ctx.scope, issueId, Math.max(0, first - sequencesBefore), {
      limit: eventsPerIssue,
      matches: ({ entityType, actor }) => entityType === 'issue' && actor.id !== automation.id,
    });
    for (const event of page.events)
      for (const one of own) {
        if (!(one.field in ((event.data.previous ?? {}) as object))) continue;
        noteConflict(conflicts, one, event);
        noteReversal(reversed, one, event, automation);
      }
  }
  return {
    conflicts: [...conflicts.values()].map(({ conflict, issues }) => ({ ...conflict, count: issues.size })),
    reversed,
  };
}

/** True if the later of two writes leaves the earlier one as it is: a label beside another label. */
function agrees(one: Write, { data, sequence }: EventRow): boolean {
  const { field, before, value } = one;
  if (!Array.isArray(value)) return false;
  const previous = (data.previous as Readonly<Record<string, unknown>>)[field];
  return sequence > one.sequence
    ? isSame({ field, before, wouldBe: value }, data[field])
    : isSame({ field, before: previous, wouldBe: data[field] }, value);
}

function noteConflict(conflicts: Conflicts, one: Write, event: EventRow): void {
  const { actor, data, createdAt } = event;
  if (actor.kind !== 'plugin' && actor.kind !== 'system') return;
  if (Math.abs(createdAt - one.atMs) > dayMs || agrees(one, event)) return;
  const kind = actor.kind === 'system' ? 'system' : isRuleId(actor.id) ? 'automation' : 'plugin';
  const key = `${actor.id} ${one.field}`;
  const known = conflicts.get(key);
  if (known) return void known.issues.add(one.issue.id);
  const conflict = {
    with: { kind, id: actor.id, name: actor.name },
    field: one.field,
    count: 1,
    example: {
      issue: identified(one, event),
      ours: { value: short(one.value), at: isoTime(one.atMs) },
      theirs: { value: short(data[one.field]), at: isoTime(createdAt) },
    },
  } satisfies Conflict;
  conflicts.set(key, { conflict, issues: new Set([one.issue.id]) });
}

/** The effects of a backtest have no identifiers. */
function identified({ issue }: Write, { data }: EventRow): Write['issue'] {
  const { identifier = null } = data as { identifier?: string | null };
  return { ...issue, identifier: issue.identifier ?? identifier };
}

/** A person who sets another value within the window overrules the automation. */
function noteReversal(reversed: Reversal[], one: Write, event: EventRow, { stepDown }: Automation): void {
  const { actor, data, createdAt, sequence } = event;
  const isPerson = actor.kind === 'user' || actor.kind === 'api_key';
  if (!isPerson || sequence <= one.sequence || createdAt > one.atMs + stepDown.days * dayMs) return;
  if (reversed.some(({ write }) => write === one)) return;
  const { field, before, value } = one;
  if (isSame({ field, before, wouldBe: value }, data[field])) return;
  const [set, now] = [short(value), short(data[field])];
  const example = { issue: one.issue, field, set, now, by: actor.name, at: isoTime(createdAt) };
  reversed.push({ write: one, example });
}
