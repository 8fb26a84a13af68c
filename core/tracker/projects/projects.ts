// Makes and changes projects.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { created, getEntity, updated } from '../../changes/operations.ts';
import { listKind, type PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { requireDay, requireMember } from '../directory.ts';
import { projectKind, type Project, type ProjectCreate, type ProjectUpdate } from './schema.ts';

export function listProjects(ctx: Context, query: PageParameters & { status?: string }) {
  const where =
    query.status === undefined ? [] : [{ sql: 'status = :status', params: { status: query.status } }];
  return listKind(ctx, projectKind, query, { where, order: [{ sql: 'created_at', direction: 'desc' }] });
}

export async function getProject(ctx: Context, id: string) {
  return projectKind.wire(await getEntity(ctx, projectKind, id), ctx);
}

export async function createProject(ctx: Context, input: Static<typeof ProjectCreate>): Promise<ChangeSet> {
  const now = ctx.nowMs();
  const project: Omit<Project, 'version'> = {
    id: ctx.ids.next('project'),
    name: input.name,
    description: input.description ?? '',
    status: input.status ?? 'backlog',
    health: input.health ?? null,
    leadId: input.leadId ?? null,
    startDate: input.startDate ?? null,
    targetDate: input.targetDate ?? null,
    createdAt: now,
    updatedAt: now,
  };
  checkReferences(ctx, project);
  return created(ctx, projectKind, project, 'projects');
}

export async function updateProject(
  ctx: Context,
  id: string,
  patch: Static<typeof ProjectUpdate>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const project = await getEntity(ctx, projectKind, id);
  checkReferences(ctx, { ...project, ...patch });
  return updated(ctx, projectKind, project, patch, ifMatch);
}

function checkReferences(ctx: Context, project: Pick<Project, 'leadId' | 'startDate' | 'targetDate'>): void {
  requireMember(ctx.directory, 'leadId', project.leadId);
  requireDay('startDate', project.startDate);
  requireDay('targetDate', project.targetDate);
  if (project.startDate !== null && project.targetDate !== null && project.targetDate < project.startDate)
    throw invalidField('targetDate', 'too_small', 'The target date lies before the start date.');
}
