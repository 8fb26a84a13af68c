import { Type } from 'typebox';
import { defineRoute } from '../../http/route.ts';
import { teamKey } from '../../identity/teams/schema.ts';
import { Closed, id, pageOf, pageQuery } from '../../lib/schema.ts';
import { StateCreate, StateShown, StateUpdate } from './schema.ts';
import { createState, deleteState, listStates, updateState } from './workflows.ts';

const params = Closed({ id: id('state') });

export const workflowRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/workflows',
    name: 'workflows.list',
    summary: 'List workflow states, by team and position',
    scope: 'workflows:read',
    limit: 'read',
    query: Closed({ ...pageQuery, team: Type.Optional(teamKey) }),
    responses: { 200: pageOf(StateShown) },
    read: (ctx, { query }) => listStates(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/workflows',
    name: 'workflows.create',
    summary: 'Add a workflow state',
    scope: 'workflows:write',
    limit: 'write',
    body: StateCreate,
    example: { team: 'ENG', name: 'In Review', type: 'started' },
    responses: { 201: StateShown },
    write: (ctx, { body }) => createState(ctx, body),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api/v1/workflows/{id}',
    name: 'workflows.update',
    summary: 'Rename or move a workflow state',
    scope: 'workflows:write',
    limit: 'write',
    params,
    body: StateUpdate,
    example: { name: 'Review' },
    responses: { 200: StateShown },
    write: (ctx, { params, body, ifMatch }) => updateState(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/workflows/{id}',
    name: 'workflows.delete',
    summary: 'Delete a workflow state without issues',
    scope: 'workflows:write',
    limit: 'write',
    params,
    errors: ['conflict'],
    responses: { 204: null },
    write: (ctx, { params, ifMatch }) => deleteState(ctx, params.id, ifMatch),
  }),
];
