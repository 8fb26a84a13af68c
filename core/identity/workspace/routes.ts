import { defineRoute } from '../../http/route.ts';
import { WorkspaceShown, WorkspaceUpdate } from './schema.ts';
import { getWorkspace, updateWorkspace } from './workspace.ts';

export const workspaceRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/workspace',
    name: 'workspace.get',
    summary: 'Get the workspace of the token',
    scope: 'workspace:read',
    limit: 'read',
    responses: { 200: WorkspaceShown },
    read: (ctx) => getWorkspace(ctx),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api/v1/workspace',
    name: 'workspace.update',
    summary: 'Rename the workspace',
    scope: 'workspace:write',
    limit: 'write',
    body: WorkspaceUpdate,
    example: { name: 'Acme' },
    responses: { 200: WorkspaceShown },
    write: (ctx, { body, ifMatch }) => updateWorkspace(ctx, body, ifMatch),
  }),
];
