import { defineRoute } from '../../http/route.ts';
import { Closed, pageOf, pageQuery, uuid } from '../../lib/schema.ts';
import { TeamCreate, TeamShown, TeamUpdate } from './schema.ts';
import { createTeam, getTeam, listTeams, updateTeam } from './teams.ts';

const params = Closed({ id: uuid });

export const teamRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/teams',
    name: 'teams.list',
    summary: 'List teams',
    scope: 'teams:read',
    limit: 'read',
    query: Closed(pageQuery),
    responses: { 200: pageOf(TeamShown) },
    read: (ctx, { query }) => listTeams(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/teams',
    name: 'teams.create',
    summary: 'Create a team with its workflow states',
    scope: 'teams:write',
    limit: 'write',
    body: TeamCreate,
    example: { key: 'ENG', name: 'Engineering' },
    responses: { 201: TeamShown },
    write: (ctx, { body }) => createTeam(ctx, body),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/teams/{id}',
    name: 'teams.get',
    summary: 'Get a team',
    scope: 'teams:read',
    limit: 'read',
    params,
    responses: { 200: TeamShown },
    read: (ctx, { params }) => getTeam(ctx, params.id),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api/v1/teams/{id}',
    name: 'teams.update',
    summary: 'Change a team or its allowed transitions',
    scope: 'teams:write',
    limit: 'write',
    params,
    body: TeamUpdate,
    example: { name: 'Platform' },
    responses: { 200: TeamShown },
    write: (ctx, { params, body, ifMatch }) => updateTeam(ctx, params.id, body, ifMatch),
  }),
];
