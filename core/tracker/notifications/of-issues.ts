// Notifications about issues: assignment, mentions, triage, and changes for subscribers.
import type { Context } from '../../context.ts';
import type { EventRow } from '../../events/event.ts';
import { adminsOf } from '../../inbox/items.ts';
import { minuteMs } from '../../lib/time.ts';
import type { ShownIssue } from '../issues/kind.ts';
import { mentionsIn } from '../mentions.ts';
import { emptyNews, excerptOf, findIssue, followersOf, nameOfActor, tell, type News } from './news.ts';

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

/** Notifiable parts of a change. */
interface Change {
  readonly shown: ShownIssue;
  /** Id of a new assignee. */
  readonly assigned: string | null;
  readonly mentioned: readonly string[];
  readonly comesToTriage: boolean;
  /** Texts for subscribers: `state Todo → Done`. */
  readonly changes: readonly string[];
}

export async function newsOfIssue(ctx: Context, event: EventRow): Promise<News | null> {
  const change = changeIn(ctx, event);
  const { assigned, mentioned, comesToTriage, changes } = change;
  if (assigned === null && mentioned.length === 0 && !comesToTriage && changes.length === 0) return null;
  const issue = await findIssue(ctx, change.shown.id);
  if (!issue) return null;
  const news = emptyNews(issue, { kind: 'issue', id: issue.id });
  tellPersons(news, change, nameOfActor(ctx, event));
  if (changes.length > 0)
    tell(news, await followersOf(ctx, issue), {
      reason: 'subscribed',
      kind: 'issue_changed',
      title: `${nameOfActor(ctx, event)} changed ${change.shown.identifier}: ${changes.join(', ')}`,
      body: change.shown.title,
    });
  if (comesToTriage)
    tell(news, adminsOf(ctx.directory), {
      reason: 'triage',
      kind: 'issue_triage',
      title: `${change.shown.identifier} waits in triage`,
      body: change.shown.title,
    });
  return news;
}

function changeIn(ctx: Context, event: EventRow): Change {
  const shown = event.data as object as ShownIssue & { previous?: Partial<ShownIssue> };
  const { previous } = shown;
  if (!previous && event.createdAt - Date.parse(shown.createdAt) > importedMs)
    return { shown, assigned: null, mentioned: [], comesToTriage: false, changes: [] };
  const moved = (field: keyof ShownIssue): boolean => !previous || field in previous;
  return {
    shown,
    assigned: moved('assignee') ? (shown.assignee?.id ?? null) : null,
    mentioned: moved('description')
      ? newlyMentioned(ctx, shown.description, previous?.description ?? '')
      : [],
    comesToTriage: moved('state') && shown.state.type === 'triage',
    changes: previous ? changesIn(shown, previous) : [],
  };
}

/** The assignee and mentioned members also become subscribers. */
function tellPersons(news: News, { shown, assigned, mentioned }: Change, who: string): void {
  const { identifier, title, description } = shown;
  if (assigned !== null) {
    const words = `${who} assigned ${identifier} to you`;
    tell(news, [assigned], { reason: 'assigned', kind: 'issue_assigned', title: words, body: title });
    news.follows.set(assigned, 'assigned');
  }
  const words = `${who} mentioned you in ${identifier}`;
  tell(news, mentioned, {
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
function changesIn(shown: ShownIssue, previous: Partial<ShownIssue>): string[] {
  return Object.entries(watched).flatMap(([field, read]) => {
    const name = field as keyof ShownIssue;
    if (!(name in previous)) return [];
    return [`${field === 'dueDate' ? 'due date' : field} ${read(previous[name])} → ${read(shown[name])}`];
  });
}
