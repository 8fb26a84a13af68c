// Makes, changes and deletes labels. A deleted label disappears from issues that carry it, without changing them.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { created, getEntity, removed, updated } from '../../changes/operations.ts';
import { listKind, notDeleted, type PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { findTeam } from '../directory.ts';
import { labelKind, type LabelCreate, type LabelUpdate } from './schema.ts';

export async function listLabels(ctx: Context, query: PageParameters & { team?: string }) {
  const where = [notDeleted];
  if (query.team !== undefined) {
    const team = findTeam(ctx.directory, query.team);
    if (!team) throw invalidField('team', 'not_found', `There is no team ${query.team}.`);
    where.push({ sql: '(team_id = :teamId OR team_id IS NULL)', params: { teamId: team.id } });
  }
  return listKind(ctx, labelKind, query, { where });
}

export async function getLabel(ctx: Context, id: string) {
  return labelKind.wire(await getEntity(ctx, labelKind, id), ctx);
}

export async function createLabel(ctx: Context, input: Static<typeof LabelCreate>): Promise<ChangeSet> {
  const team = input.team === undefined ? null : findTeam(ctx.directory, input.team);
  if (team === undefined) throw invalidField('team', 'not_found', `There is no team ${input.team}.`);
  requireFreeName(ctx, team?.id ?? null, input.name, null);
  const now = ctx.nowMs();
  return created(
    ctx,
    labelKind,
    {
      id: ctx.ids.next('label'),
      teamId: team?.id ?? null,
      name: input.name,
      color: input.color ?? '#8b949e',
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    },
    'labels',
  );
}

export async function updateLabel(
  ctx: Context,
  id: string,
  patch: Static<typeof LabelUpdate>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const label = await getEntity(ctx, labelKind, id);
  if (patch.name !== undefined) requireFreeName(ctx, label.teamId, patch.name, id);
  return updated(ctx, labelKind, label, patch, ifMatch);
}

export async function deleteLabel(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  return removed(ctx, labelKind, await getEntity(ctx, labelKind, id), ifMatch);
}

function requireFreeName(ctx: Context, teamId: string | null, name: string, id: string | null): void {
  for (const label of ctx.directory.labels.values())
    if (label.teamId === teamId && label.id !== id && label.name.toLowerCase() === name.toLowerCase())
      throw invalidField('name', 'already_exists', `There is a label ${label.name} already.`);
}
