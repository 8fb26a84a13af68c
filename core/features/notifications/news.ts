// Notifications that an event causes, before preferences of members are applied.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import type { Context } from '../../kernel/context.ts';
import type { EventRow } from '../../kernel/events/event.ts';
import type { switchableReasons } from '../inbox/contract.ts';
import type { InboxItemResponse } from '../inbox/index.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { issueModel, type Issue } from '../issues/index.ts';
import { rowsOf } from '../subscribers/index.ts';
import type { subscriber } from '../subscribers/contract.ts';

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
  return issueModel.wire(issue, ctx).identifier ?? '';
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
