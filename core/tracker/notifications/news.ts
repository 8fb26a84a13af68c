// What an event means for members, before it is asked who of them wants to hear it.
import type { Shown } from '../../contract/contract.ts';
import type { Context } from '../../context.ts';
import type { EventRow } from '../../events/event.ts';
import type { switchableReasons } from '../../inbox/contract.ts';
import type { ShownItem } from '../../inbox/kind.ts';
import { authorOf } from '../../resource/author.ts';
import { issueKind, type Issue } from '../issues/kind.ts';
import { rowsOf } from '../subscribers/kind.ts';
import type { subscriber } from '../subscribers/contract.ts';

export type Reason = (typeof switchableReasons)[number];

/** What one member is told. */
export interface Tiding {
  readonly reason: Reason;
  readonly kind: ShownItem['kind'];
  readonly title: string;
  readonly body: string;
}

export interface News {
  /** Null where it is of none. */
  readonly issue: Issue | null;
  readonly target: { readonly kind: string; readonly id: string };
  /** By member: one of several reasons is the first that was given. */
  readonly told: Map<string, Tiding>;
  /** Who follows the issue from now on, and why. */
  readonly follows: Map<string, Shown<typeof subscriber>['reason']>;
}

export function emptyNews(issue: Issue | null, target: News['target']): News {
  return { issue, target, told: new Map(), follows: new Map() };
}

/** Tells those who were not told better already. */
export function tell({ told }: News, memberIds: Iterable<string>, tiding: Tiding): void {
  for (const memberId of memberIds) if (!told.has(memberId)) told.set(memberId, tiding);
}

/** An issue that is there. */
export async function findIssue(ctx: Context, id: unknown): Promise<Issue | null> {
  const found = typeof id === 'string' ? await issueKind.find(ctx, id) : undefined;
  return found && found.deletedAt === null ? found : null;
}

/** Ids of those who follow it now. */
export async function followersOf(ctx: Context, issue: Issue): Promise<string[]> {
  return (await rowsOf(ctx, issue)).filter(({ muted }) => !muted).map(({ memberId }) => memberId);
}

export function identifierOf(ctx: Context, issue: Issue): string {
  return issueKind.wire(issue, ctx).identifier ?? '';
}

/** The name of now, as people are shown who did it. */
export function nameOfActor({ directory }: Context, { actor }: EventRow): string {
  return authorOf({ actor, directory }, 'actor').actorName;
}

const excerptMax = 300;

export function excerptOf(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length <= excerptMax ? line : `${line.slice(0, excerptMax).trimEnd()}…`;
}
