// Fills the index of a team in the schedule `learn`: adds issues that it lacks, newest first, and rereads a segment
// that is a week old, because issues are edited and deleted.
import type { Issue } from '@tatami/sdk/plugin';
import type { LearnContext } from '../context.ts';
import { pagesOf } from '../pages.ts';
import { buildSegment, type Entry } from './segment.ts';
import { idsOf, readIndex, type SimilarIndex } from './store.ts';
import { codesOf, termsOf } from './terms.ts';

const rereadAfterMs = 7 * 24 * 3_600_000;
/** Number of issues that an isolate reads when it starts, at about 1 ms each. */
const recalledMax = 20;
/** Upper bounds of host calls, with those that store the result and end the run. */
const callsToStart = 35;
const callsPerPage = 10;
const callsToReread = 20;
const fields = ['title', 'description'] as const;

type IssueItem = Pick<Issue, 'id' | (typeof fields)[number]>;

interface Filling {
  readonly team: string;
  /** Number of teams, which share the space of a workspace. */
  readonly teams: number;
  readonly nowMs: number;
  /** Returns true if the run has this many calls left, and CPU time for a page of issues. */
  readonly canCall: (calls: number) => boolean;
}

/** Reads the newest issues into the memory of an isolate that has just started. */
export async function recallNewest(
  ctx: Pick<LearnContext, 'issues'>,
  index: SimilarIndex,
  team: string,
): Promise<void> {
  let newest: readonly IssueItem[] = [];
  for await (const { items } of pagesOf(ctx, { team }, fields, { limit: recalledMax })) {
    newest = items;
    break;
  }
  index.recall(newest.map(toEntry));
}

/** @returns true if the index is complete, or as large as it may be */
export async function fillIndex(ctx: LearnContext, filling: Filling): Promise<boolean> {
  if (!filling.canCall(callsToStart)) return false;
  const index = await readIndex(ctx.kv, filling.team, filling.teams);
  const before = JSON.stringify(index.head);
  await index.shrink();
  const add = index.head.older === null ? addNewer : addOlder;
  const isComplete = await add(ctx, index, filling);
  if (isComplete && filling.canCall(callsToReread)) await rereadOldest(ctx, index, filling);
  if (JSON.stringify(index.head) !== before) await index.save();
  return isComplete;
}

/** Lists all issues once, over several runs. @returns true if all are indexed, or as many as fit */
async function addOlder(ctx: LearnContext, index: SimilarIndex, filling: Filling): Promise<boolean> {
  const { head } = index;
  const known = idsOf(index.stored);
  for await (const { items, next } of pagesOf(ctx, { team: filling.team }, fields, {
    after: head.older ?? '',
  })) {
    if (head.older === '') head.newest = items[0]?.id ?? '';
    await addUnknown(index, known, items, filling.nowMs);
    head.older = known.size >= index.sizeMax ? null : next;
    if (head.older === null) return true;
    if (!filling.canCall(callsPerPage)) return false;
  }
  return false;
}

/** Adds the issues that are newer than the newest indexed one. @returns true if all are indexed */
async function addNewer(ctx: LearnContext, index: SimilarIndex, filling: Filling): Promise<boolean> {
  const { head } = index;
  const { team, nowMs } = filling;
  const [newest] = (await ctx.issues.list({ team, fields: 'title', limit: 1 })).data;
  if (newest === undefined || newest.id === head.newest) return true;
  const known = idsOf(index.stored);
  let added = 0;
  head.newest = newest.id;
  for await (const { items, next } of pagesOf(ctx, { team }, fields)) {
    const count = await addUnknown(index, known, items, nowMs);
    added += count;
    if (count < items.length || next === null || added >= index.sizeMax) return true;
    // The next run continues here as if the index were new.
    head.older = next;
    if (!filling.canCall(callsPerPage)) return false;
    head.older = null;
  }
  return true;
}

/** @returns number of added issues */
async function addUnknown(
  index: SimilarIndex,
  known: Set<string>,
  items: readonly IssueItem[],
  nowMs: number,
): Promise<number> {
  const missing = items.filter(({ id }) => !known.has(id));
  await index.append(missing.map(toEntry), nowMs);
  for (const { id } of missing) known.add(id);
  return missing.length;
}

async function rereadOldest(ctx: LearnContext, index: SimilarIndex, { team, nowMs }: Filling): Promise<void> {
  const { readAt } = index.head;
  const slot = readAt.indexOf(Math.min(...readAt));
  const ids = index.stored[slot]?.ids ?? [];
  if (slot < 0 || (readAt[slot] ?? 0) > nowMs - rereadAfterMs) return;
  const entries: Entry[] = [];
  let isRead = false;
  for await (const { items, next } of pagesOf(ctx, { team, filter: { id: ids } }, fields)) {
    entries.push(...items.map(toEntry));
    isRead = next === null;
  }
  if (isRead) await index.write(slot, buildSegment(entries), nowMs);
  else readAt[slot] = nowMs;
}

function toEntry(issue: {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}): Entry {
  return { id: issue.id, codes: codesOf(termsOf(issue)) };
}
