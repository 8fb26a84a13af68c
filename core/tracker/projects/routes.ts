import { Type } from 'typebox';
import { defineRoute } from '../../http/route.ts';
import { Closed, id, pageOf, pageQuery } from '../../lib/schema.ts';
import { createProject, getProject, listProjects, updateProject } from './projects.ts';
import { ProjectCreate, projectStatuses, ProjectShown, ProjectUpdate } from './schema.ts';

const params = Closed({ id: id('project') });

export const projectRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/projects',
    name: 'projects.list',
    summary: 'List projects, newest first',
    scope: 'projects:read',
    limit: 'read',
    query: Closed({ ...pageQuery, status: Type.Optional(Type.Enum([...projectStatuses])) }),
    responses: { 200: pageOf(ProjectShown) },
    read: (ctx, { query }) => listProjects(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/projects',
    name: 'projects.create',
    summary: 'Create a project',
    scope: 'projects:write',
    limit: 'write',
    body: ProjectCreate,
    example: { name: 'Spring release', status: 'planned', targetDate: '2027-03-01' },
    responses: { 201: ProjectShown },
    write: (ctx, { body }) => createProject(ctx, body),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/projects/{id}',
    name: 'projects.get',
    summary: 'Get a project',
    scope: 'projects:read',
    limit: 'read',
    params,
    responses: { 200: ProjectShown },
    read: (ctx, { params }) => getProject(ctx, params.id),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api/v1/projects/{id}',
    name: 'projects.update',
    summary: 'Change a project',
    scope: 'projects:write',
    limit: 'write',
    params,
    body: ProjectUpdate,
    example: { status: 'started', health: 'on_track' },
    responses: { 200: ProjectShown },
    write: (ctx, { params, body, ifMatch }) => updateProject(ctx, params.id, body, ifMatch),
  }),
];
