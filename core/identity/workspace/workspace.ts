// Reads and renames the caller's workspace.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { workspaceKind, type WorkspaceUpdate } from './schema.ts';

export async function getWorkspace(ctx: Context) {
  return workspaceKind.wire(await getEntity(ctx, workspaceKind, ctx.workspaceId), ctx);
}

export async function updateWorkspace(
  ctx: Context,
  patch: Static<typeof WorkspaceUpdate>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  return updated(ctx, workspaceKind, await getEntity(ctx, workspaceKind, ctx.workspaceId), patch, ifMatch);
}
