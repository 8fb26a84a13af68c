// Notifications that an event causes, before preferences of members are applied.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import type { Context } from '../../kernel/context.ts';
import type { EventRow } from '../../kernel/events/event.ts';
import type { switchableReasons } from '../inbox/contract.ts';
import { type InboxItemResponse, adminsOf } from '../inbox/index.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { issueModel, type Issue, type IssueResponse } from '../issues/index.ts';
import { rowsOf } from '../subscribers/index.ts';
import type { subscriber } from '../subscribers/contract.ts';
import { minuteMs } from '../../platform/lib/time/time.ts';
import { mentionsIn } from '../comments/index.ts';

export type Reason = (typeof switchableReasons)[number];

/** Notification for one member. */
export interface Tiding {
  readonly reason: Reason;
  readonly kind: InboxItemResponse['kind'];
  readonly title: string;
  readonly body: string;
}

export interface News {
  /** Issue of the event; null if the event is not about an issue. */
  readonly issue: Issue | null;
  readonly target: { readonly kind: string; readonly id: string };
  /** Notifications by member; the first reason that was added wins. */
  readonly notifications: Map<string, Tiding>;
  /** New subscribers of the issue, with the reason. */
  readonly follows: Map<string, EntityResponse<typeof subscriber>['reason']>;
}

export function emptyNews(issue: Issue | null, target: News['target']): News {
  return { issue, target, notifications: new Map(), follows: new Map() };
}

/** Notifies members who have no notification yet. */
export function notify({ notifications }: News, memberIds: Iterable<string>, tiding: Tiding): void {
  for (const memberId of memberIds) if (!notifications.has(memberId)) notifications.set(memberId, tiding);
}

/** Returns null for a deleted issue. */
export async function findIssue(ctx: Context, id: unknown): Promise<Issue | null> {
  const issue = typeof id === 'string' ? await issueModel.find(ctx, id) : undefined;
  return issue && issue.deletedAt === null ? issue : null;
}

/** Returns the ids of the subscribers who have not unsubscribed. */
export async function followersOf(ctx: Context, issue: Issue): Promise<string[]> {
  return (await rowsOf(ctx, issue)).filter(({ muted }) => !muted).map(({ memberId }) => memberId);
}

export function identifierOf(ctx: Context, issue: Issue): string {
  return issueModel.toResponse(issue, ctx).identifier ?? '';
}

/** Returns the current name of the author. */
export function nameOfActor({ directory }: Context, { actor }: EventRow): string {
  return authorOf({ actor, directory }, 'actor').actorName;
}

const excerptMax = 300;

export function excerptOf(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length <= excerptMax ? line : `${line.slice(0, excerptMax).trimEnd()}…`;
}

/** An issue whose creation time is this much older than its event was imported, and notifies nobody. */
const importedMs = minuteMs;

/** Fields whose changes subscribers are notified of, with their text form. */
const watched: Readonly<Record<string, (value: unknown) => string>> = {
  state: nameOf,
  priority: String,
  assignee: nameOf,
  dueDate: (value) => (value === null ? 'none' : String(value)),
};

function nameOf(value: unknown): string {
  return (value as { name?: string } | null)?.name ?? 'nobody';
}

/** Parts of a change that cause notifications. */
interface Change {
  readonly response: IssueResponse;
  /** Id of a new assignee. */
  readonly assigned: string | null;
  readonly mentioned: readonly string[];
  readonly comesToTriage: boolean;
  /** Texts for subscribers: `state Todo → Done`. */
  readonly changes: readonly string[];
}

/** Notifies of assignment, mentions and triage, and subscribers of changes. */
export async function newsOfIssue(ctx: Context, event: EventRow): Promise<News | null> {
  const change = changeIn(ctx, event);
  const { assigned, mentioned, comesToTriage, changes } = change;
  if (assigned === null && mentioned.length === 0 && !comesToTriage && changes.length === 0) return null;
  const issue = await findIssue(ctx, change.response.id);
  if (!issue) return null;
  const news = emptyNews(issue, { kind: 'issue', id: issue.id });
  notifyMembers(news, change, nameOfActor(ctx, event));
  if (changes.length > 0)
    notify(news, await followersOf(ctx, issue), {
      reason: 'subscribed',
      kind: 'issue_changed',
      title: `${nameOfActor(ctx, event)} changed ${change.response.identifier}: ${changes.join(', ')}`,
      body: change.response.title,
    });
  if (comesToTriage)
    notify(news, adminsOf(ctx.directory), {
      reason: 'triage',
      kind: 'issue_triage',
      title: `${change.response.identifier} waits in triage`,
      body: change.response.title,
    });
  return news;
}

function changeIn(ctx: Context, event: EventRow): Change {
  const response = event.data as object as IssueResponse & { previous?: Partial<IssueResponse> };
  const { previous } = response;
  if (!previous && event.createdAt - Date.parse(response.createdAt) > importedMs)
    return { response, assigned: null, mentioned: [], comesToTriage: false, changes: [] };
  const moved = (field: keyof IssueResponse): boolean => !previous || field in previous;
  return {
    response,
    assigned: moved('assignee') ? (response.assignee?.id ?? null) : null,
    mentioned: moved('description')
      ? newlyMentioned(ctx, response.description, previous?.description ?? '')
      : [],
    comesToTriage: moved('state') && response.state.type === 'triage',
    changes: previous ? changesIn(response, previous) : [],
  };
}

/** The assignee and mentioned members also become subscribers. */
function notifyMembers(news: News, { response, assigned, mentioned }: Change, who: string): void {
  const { identifier, title, description } = response;
  if (assigned !== null) {
    const words = `${who} assigned ${identifier} to you`;
    notify(news, [assigned], { reason: 'assigned', kind: 'issue_assigned', title: words, body: title });
    news.follows.set(assigned, 'assigned');
  }
  const words = `${who} mentioned you in ${identifier}`;
  notify(news, mentioned, {
    reason: 'mentioned',
    kind: 'issue_mentioned',
    title: words,
    body: excerptOf(description),
  });
  for (const id of mentioned) if (!news.follows.has(id)) news.follows.set(id, 'mentioned');
}

function newlyMentioned({ directory }: Context, text: string, before: string): string[] {
  const earlier = new Set(mentionsIn(before, directory));
  return mentionsIn(text, directory).filter((id) => !earlier.has(id));
}

/** Returns texts such as `state Todo → Done`. */
function changesIn(response: IssueResponse, previous: Partial<IssueResponse>): string[] {
  return Object.entries(watched).flatMap(([field, read]) => {
    const name = field as keyof IssueResponse;
    if (!(name in previous)) return [];
    return [`${field === 'dueDate' ? 'due date' : field} ${read(previous[name])} → ${read(response[name])}`];
  });
}
