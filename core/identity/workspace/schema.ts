// The workspace: the tenant itself.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind } from '../../changes/kind.ts';
import { Closed, named, text, time, uuid, version } from '../../lib/schema.ts';

export const WorkspaceShown = named(
  'Workspace',
  Closed({ id: uuid, name: Type.String(), version, createdAt: time, updatedAt: time }),
);
export const WorkspaceUpdate = Closed({ name: Type.Optional(text(80)) });

export interface Workspace extends Entity {
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const workspaceKind = defineKind<Workspace, Static<typeof WorkspaceShown>>({
  name: 'workspace',
  table: 'workspaces',
  fields: { name: 'name', createdAt: 'created_at', updatedAt: 'updated_at' },
  wire: (workspace) => ({
    id: workspace.id,
    name: workspace.name,
    version: workspace.version,
    createdAt: new Date(workspace.createdAt).toISOString(),
    updatedAt: new Date(workspace.updatedAt).toISOString(),
  }),
  events: (before) => (before ? ['workspace.updated'] : ['workspace.created']),
});
