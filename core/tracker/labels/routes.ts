import { Type } from 'typebox';
import { defineRoute } from '../../http/route.ts';
import { teamKey } from '../../identity/teams/schema.ts';
import { Closed, id, pageOf, pageQuery } from '../../lib/schema.ts';
import { createLabel, deleteLabel, getLabel, listLabels, updateLabel } from './labels.ts';
import { LabelCreate, LabelShown, LabelUpdate } from './schema.ts';

const params = Closed({ id: id('label') });

export const labelRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/labels',
    name: 'labels.list',
    summary: 'List labels',
    description:
      'With `team`, the labels that issues of that team can carry: its own and those of the workspace.',
    scope: 'labels:read',
    limit: 'read',
    query: Closed({ ...pageQuery, team: Type.Optional(teamKey) }),
    responses: { 200: pageOf(LabelShown) },
    read: (ctx, { query }) => listLabels(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/labels',
    name: 'labels.create',
    summary: 'Create a label',
    scope: 'labels:write',
    limit: 'write',
    body: LabelCreate,
    example: { name: 'regression', color: '#b60205' },
    responses: { 201: LabelShown },
    write: (ctx, { body }) => createLabel(ctx, body),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/labels/{id}',
    name: 'labels.get',
    summary: 'Get a label',
    scope: 'labels:read',
    limit: 'read',
    params,
    responses: { 200: LabelShown },
    read: (ctx, { params }) => getLabel(ctx, params.id),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api/v1/labels/{id}',
    name: 'labels.update',
    summary: 'Change a label',
    scope: 'labels:write',
    limit: 'write',
    params,
    body: LabelUpdate,
    example: { color: '#0e8a16' },
    responses: { 200: LabelShown },
    write: (ctx, { params, body, ifMatch }) => updateLabel(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/labels/{id}',
    name: 'labels.delete',
    summary: 'Delete a label',
    scope: 'labels:write',
    limit: 'write',
    params,
    responses: { 204: null },
    write: (ctx, { params, ifMatch }) => deleteLabel(ctx, params.id, ifMatch),
  }),
];
