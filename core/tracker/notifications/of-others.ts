// Notifications about SLA events and project updates.
import type { Context } from '../../context.ts';
import type { EventRow } from '../../events/event.ts';
import { projectModel } from '../projects/kind.ts';
import {
  emptyNews,
  excerptOf,
  findIssue,
  followersOf,
  identifierOf,
  nameOfActor,
  notify,
  type News,
} from './news.ts';

interface Referred {
  readonly id?: string;
}

/** Notifies the assignee; for an unassigned issue, its subscribers. */
export async function newsOfSla(ctx: Context, { type, data }: EventRow): Promise<News | null> {
  const { issue: referred, name } = data as { issue?: Referred; name?: string };
  const issue = await findIssue(ctx, referred?.id);
  if (!issue) return null;
  const news = emptyNews(issue, { kind: 'issue', id: issue.id });
  const isBreached = type === ('sla.breached' as string);
  const words = `${identifierOf(ctx, issue)} ${isBreached ? 'has missed' : 'is about to miss'} its SLA target`;
  const tiding = {
    reason: 'sla',
    kind: isBreached ? 'sla_breached' : 'sla_at_risk',
    title: typeof name === 'string' ? `${words}: ${name}` : words,
    body: issue.title,
  } as const;
  notify(news, issue.assigneeId === null ? await followersOf(ctx, issue) : [issue.assigneeId], tiding);
  return news;
}

export async function newsOfProject(ctx: Context, event: EventRow): Promise<News | null> {
  const { project: referred, body } = event.data as { project?: Referred; body?: unknown };
  const project = typeof referred?.id === 'string' ? await projectModel.find(ctx, referred.id) : undefined;
  if (!project) return null;
  const news = emptyNews(null, { kind: 'project', id: project.id });
  const tiding = {
    reason: 'project_update',
    kind: 'project_update',
    title: `${nameOfActor(ctx, event)} posted an update of ${project.name}`,
    body: typeof body === 'string' ? excerptOf(body) : '',
  } as const;
  const { leadId, members } = project;
  notify(news, [...(leadId === null ? [] : [leadId]), ...members], tiding);
  return news;
}
