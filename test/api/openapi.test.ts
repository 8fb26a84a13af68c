// The OpenAPI document is valid 3.1, complete, and true: it is the routes, its examples pass their schemas, and what the
// server answers is what it says.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createConfig, lintDocument, makeDocumentFromString, BaseResolver } from '@redocly/openapi-core';
import { Compile } from 'typebox/compile';
import type { Route } from '../../core/http/route.ts';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';

let app: TestApp;
let document: Json;

beforeAll(async () => {
  app = await startApp();
  document = (await app.clientOf(null)('GET', '/api/v1/openapi.json')).json;
});
afterAll(() => app.stop());

test('it is OpenAPI 3.1 without an error under the recommended rules', async () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintDocument({
    document: makeDocumentFromString(JSON.stringify(document), 'openapi.json'),
    externalRefResolver: new BaseResolver(),
    config,
  });
  const errors = problems
    .filter(({ severity }) => severity === 'error')
    .map(({ message, location }) => `${message} ${location[0]?.pointer}`);
  expect(errors).toEqual([]);
});

test('it lists every route, and nothing else', () => {
  const listed = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const mounted = app.app.routes.map(({ method, path }) => `${method} ${path}`);
  expect(listed.sort()).toEqual(mounted.sort());
  expect(new Set(app.app.routes.map(({ name }) => name)).size).toBe(mounted.length);
});

test('every operation names its scope, its limits and its errors; every example passes its schema', () => {
  for (const route of app.app.routes) {
    const operation = document.paths[route.path][route.method.toLowerCase()];
    expect(operation['x-required-scope'] ?? null).toBe(route.scope);
    for (const response of Object.values<Json>(operation.responses))
      expect(Object.keys(response.headers)).toEqual(
        expect.arrayContaining(['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']),
      );
    expect(operation.responses['429'].headers).toHaveProperty('Retry-After');
    if (route.body === undefined) continue;
    expect(route.example).toBeDefined();
    if (route.name !== 'plugins.install')
      expect([route.name, [...Compile(route.body).Errors(route.example)]]).toEqual([route.name, []]);
  }
});

test('the webhooks section has the event types of the specification that are sent today', () => {
  const types = Object.keys(document.webhooks);
  expect(types).toEqual(
    expect.arrayContaining([
      'issue.created',
      'issue.updated',
      'issue.state_changed',
      'issue.deleted',
      'comment.added',
      'comment.resolved',
      'project.updated',
    ]),
  );
  expect(types.length).toBeGreaterThan(30);
});

test('what the server answers is what the document says', async () => {
  const routes = new Map<string, Route>(app.app.routes.map((route) => [route.name, route]));
  const seen = new Set<string>();
  const check = (name: string, reply: Reply): Json => {
    const route = routes.get(name)!;
    const schema = route.responses[reply.status];
    expect([name, reply.status, Object.keys(route.responses).map(Number).includes(reply.status)]).toEqual([
      name,
      reply.status,
      true,
    ]);
    if (schema) expect([name, [...Compile(schema).Errors(reply.json)]]).toEqual([name, []]);
    seen.add(name);
    return reply.json;
  };
  const { call } = app;
  const member = check(
    'members.create',
    await call('POST', '/api/v1/members', { name: 'Ana', email: 'ana@acme.example' }),
  );
  check('members.get', await call('GET', `/api/v1/members/${member.id}`));
  check('members.update', await call('PATCH', `/api/v1/members/${member.id}`, { role: 'admin' }));
  check('members.list', await call('GET', '/api/v1/members'));
  const team = check('teams.create', await call('POST', '/api/v1/teams', { key: 'DOC' }));
  check('teams.get', await call('GET', `/api/v1/teams/${team.id}`));
  check('teams.update', await call('PATCH', `/api/v1/teams/${team.id}`, { name: 'Documents' }));
  check('teams.list', await call('GET', '/api/v1/teams'));
  check('workspace.get', await call('GET', '/api/v1/workspace'));
  check('workspace.update', await call('PATCH', '/api/v1/workspace', { name: 'Acme 2' }));
  const state = check(
    'workflows.create',
    await call('POST', '/api/v1/workflows', { team: 'DOC', name: 'Review', type: 'started' }),
  );
  check('workflows.update', await call('PATCH', `/api/v1/workflows/${state.id}`, { position: 9 }));
  check('workflows.list', await call('GET', '/api/v1/workflows?team=DOC'));
  const label = check(
    'labels.create',
    await call('POST', '/api/v1/labels', { name: 'regression', team: 'DOC' }),
  );
  check('labels.get', await call('GET', `/api/v1/labels/${label.id}`));
  check('labels.update', await call('PATCH', `/api/v1/labels/${label.id}`, { color: '#ff0000' }));
  check('labels.list', await call('GET', '/api/v1/labels'));
  const project = check(
    'projects.create',
    await call('POST', '/api/v1/projects', { name: 'Spring', leadId: member.id, targetDate: '2027-03-01' }),
  );
  check('projects.get', await call('GET', `/api/v1/projects/${project.id}`));
  check(
    'projects.update',
    await call('PATCH', `/api/v1/projects/${project.id}`, { status: 'started', health: 'at_risk' }),
  );
  check('projects.list', await call('GET', '/api/v1/projects'));
  const parent = check(
    'issues.create',
    await call('POST', '/api/v1/issues', { team: 'DOC', title: 'Parent' }),
  );
  const issue = check(
    'issues.create',
    await call('POST', '/api/v1/issues', {
      team: 'DOC',
      title: 'All fields',
      description: '**bold**',
      priority: 'urgent',
      stateId: state.id,
      assigneeId: member.id,
      labels: ['regression', 'bug'],
      projectId: project.id,
      parentId: parent.id,
      estimate: 2.5,
      dueDate: '2027-01-31',
      externalSource: 'test',
      externalId: '1',
    }),
  );
  check('issues.get', await call('GET', `/api/v1/issues/${issue.id}`));
  check('issues.list', await call('GET', '/api/v1/issues'));
  check('issues.list', await call('GET', '/api/v1/issues?fields=title,labels'));
  check(
    'issues.bulk',
    await call('POST', '/api/v1/issues/bulk', { issues: [{ team: 'DOC', title: 'Bulk' }] }),
  );
  check('issues.update', await call('PATCH', `/api/v1/issues/${issue.id}`, { priority: 'low' }));
  check('issues.delete', await call('DELETE', `/api/v1/issues/${parent.id}`));
  check('issues.restore', await call('POST', `/api/v1/issues/${parent.id}/restore`));
  check('issues.history', await call('GET', `/api/v1/issues/${issue.id}/history`));
  const comment = check(
    'comments.create',
    await call('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'First' }),
  );
  check(
    'comments.create',
    await call('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'Reply', parentId: comment.id }),
  );
  check('comments.get', await call('GET', `/api/v1/comments/${comment.id}`));
  check('comments.update', await call('PATCH', `/api/v1/comments/${comment.id}`, { body: 'Changed' }));
  check('comments.resolve', await call('POST', `/api/v1/comments/${comment.id}/resolve`));
  check('comments.unresolve', await call('POST', `/api/v1/comments/${comment.id}/unresolve`));
  check('comments.list', await call('GET', `/api/v1/issues/${issue.id}/comments`));
  check('comments.delete', await call('DELETE', `/api/v1/comments/${comment.id}`));
  const key = check(
    'api-keys.create',
    await call('POST', '/api/v1/api-keys', {
      name: 'ci',
      scopes: ['issues:read'],
      expiresAt: '2027-01-01T00:00:00Z',
    }),
  );
  check('api-keys.get', await call('GET', `/api/v1/api-keys/${key.id}`));
  check('api-keys.list', await call('GET', '/api/v1/api-keys'));
  check('api-keys.delete', await call('DELETE', `/api/v1/api-keys/${key.id}`));
  const hook = check(
    'webhooks.create',
    await call('POST', '/api/v1/webhooks', { url: 'https://hooks.acme.example/', events: ['issue.*'] }),
  );
  check('webhooks.get', await call('GET', `/api/v1/webhooks/${hook.id}`));
  check('webhooks.update', await call('PATCH', `/api/v1/webhooks/${hook.id}`, { enabled: false }));
  check('webhooks.list', await call('GET', '/api/v1/webhooks'));
  check('webhooks.deliveries', await call('GET', `/api/v1/webhooks/${hook.id}/deliveries`));
  check('webhooks.delete', await call('DELETE', `/api/v1/webhooks/${hook.id}`));
  const { id: plugin } = await app.installFirstParty(app.workspace.workspaceId, 'auto-triage');
  await call('POST', '/api/v1/issues', { team: 'DOC', title: 'Crash: TypeError' });
  await app.settled();
  check('plugins.list', await call('GET', '/api/v1/plugins'));
  check('plugins.get', await call('GET', `/api/v1/plugins/${plugin}`));
  check(
    'plugins.update',
    await call('PATCH', '/api/v1/plugins/auto-triage', { settings: { threshold: 0.9 } }),
  );
  const runs = check('plugins.runs', await call('GET', '/api/v1/plugins/auto-triage/runs'));
  check('runs.get', await call('GET', `/api/v1/runs/${runs.data[0].id}`));
  check('plugins.run-schedule', await call('POST', '/api/v1/plugins/auto-triage/schedules/learn/run'));
  await app.settled();
  check('plugins.kv.set', await call('PUT', '/api/v1/plugins/auto-triage/kv/note', { value: { a: 1 } }));
  check('plugins.kv.get', await call('GET', '/api/v1/plugins/auto-triage/kv/note'));
  check('plugins.kv.list', await call('GET', '/api/v1/plugins/auto-triage/kv'));
  check('plugins.kv.delete', await call('DELETE', '/api/v1/plugins/auto-triage/kv/note'));
  check('plugins.delete', await call('DELETE', '/api/v1/plugins/auto-triage'));
  const events = check('events.list', await call('GET', '/api/v1/events?limit=100'));
  check('events.get', await call('GET', `/api/v1/events/${events.data[0].id}`));
  check('audit-log.list', await call('GET', '/api/v1/audit-log'));
  check(
    'workflows.delete',
    await call(
      'DELETE',
      `/api/v1/workflows/${(await call('GET', '/api/v1/workflows?team=DOC')).json.data[0].id}`,
    ),
  );
  check('labels.delete', await call('DELETE', `/api/v1/labels/${label.id}`));
  check('members.delete', await call('DELETE', `/api/v1/members/${member.id}`));
  check('health.live', await call('GET', '/healthz'));
  check('health.ready', await call('GET', '/readyz'));

  // Events carry what the webhooks section says.
  const envelopes = new Map(
    Object.entries<Json>(document.webhooks).map(([type, hook]) => [
      type,
      hook.post.requestBody.content['application/json'].schema,
    ]),
  );
  for (const event of events.data)
    expect([event.type, envelopes.has(event.type)]).toEqual([event.type, true]);
  const unseen = [...routes.keys()].filter(
    (name) => !seen.has(name) && !/^(openapi|docs|pages|deliveries)\.|plugins\.install/.test(name),
  );
  expect(unseen).toEqual([]);
});
