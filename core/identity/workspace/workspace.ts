// The workspace of the caller's token: read and renamed by routes that name no id.
import { getEntity, updated } from '../../changes/operations.ts';
import { schemasOf } from '../../contract/schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { defineResource } from '../../resource/define.ts';
import { kindOf } from '../../resource/kind.ts';
import { workspace } from './contract.ts';

export const workspaceKind = kindOf(workspace, { table: 'workspaces' });
const { shown, update } = schemasOf(workspace);

export const workspaces = defineResource(workspace, workspaceKind, {
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/v1/workspace',
      name: 'workspace.get',
      summary: 'Get the workspace of the token',
      scope: 'workspace:read',
      limit: 'read',
      responses: { 200: shown },
      read: async (ctx) => workspaceKind.wire(await getEntity(ctx, workspaceKind, ctx.workspaceId), ctx),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/api/v1/workspace',
      name: 'workspace.update',
      summary: 'Rename the workspace',
      scope: 'workspace:write',
      limit: 'write',
      body: update,
      example: workspace.examples.update,
      responses: { 200: shown },
      write: async (ctx, { body, ifMatch }) =>
        updated(ctx, workspaceKind, await getEntity(ctx, workspaceKind, ctx.workspaceId), body, ifMatch),
    }),
  ],
});
