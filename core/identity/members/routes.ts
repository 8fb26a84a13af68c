import { defineRoute } from '../../http/route.ts';
import { Closed, id, pageOf, pageQuery } from '../../lib/schema.ts';
import { createMember, getMember, listMembers, removeMember, updateMember } from './members.ts';
import { MemberCreate, MemberShown, MemberUpdate } from './schema.ts';

const params = Closed({ id: id('member') });

export const memberRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/members',
    name: 'members.list',
    summary: 'List members',
    scope: 'members:read',
    limit: 'read',
    query: Closed(pageQuery),
    responses: { 200: pageOf(MemberShown) },
    read: (ctx, { query }) => listMembers(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/members',
    name: 'members.create',
    summary: 'Add a member',
    scope: 'members:write',
    limit: 'write',
    body: MemberCreate,
    example: { name: 'Ana', email: 'ana@acme.example', role: 'member' },
    responses: { 201: MemberShown },
    write: (ctx, { body }) => createMember(ctx, body),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/members/{id}',
    name: 'members.get',
    summary: 'Get a member',
    scope: 'members:read',
    limit: 'read',
    params,
    responses: { 200: MemberShown },
    read: (ctx, { params }) => getMember(ctx, params.id),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api/v1/members/{id}',
    name: 'members.update',
    summary: 'Change a member',
    scope: 'members:write',
    limit: 'write',
    params,
    body: MemberUpdate,
    example: { role: 'admin' },
    errors: ['conflict'],
    responses: { 200: MemberShown },
    write: (ctx, { params, body, ifMatch }) => updateMember(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/members/{id}',
    name: 'members.delete',
    summary: 'Remove a member',
    scope: 'members:write',
    limit: 'write',
    params,
    errors: ['conflict'],
    responses: { 204: null },
    write: (ctx, { params, ifMatch }) => removeMember(ctx, params.id, ifMatch),
  }),
];
