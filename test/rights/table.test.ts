// Tests every operation without its scope and with every narrowing. The operations are called in-process, as
// plugins call them; `scopes.test.ts` calls them with API keys.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import type { Route } from '../../core/kernel/http/route.ts';
import { rightsOf } from '../../core/kernel/rights/rights.ts';
import { startApp, type TestApp } from '../app.ts';
import { arbitraryOf } from '../api/arbitrary.ts';
import { exampleOf, nowhere } from '../api/seeds.ts';
import { askAs, fieldsWritten, pathOf, rightsBut, scopesBut, seedTwoTeams, type TwoTeams } from './asking.ts';

const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
const hookUrl = `http://127.0.0.1:${receiver.port}/`;
let app: TestApp;
let teams: TwoTeams;
let guarded: Route[];
let writes: Route[];

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  teams = await seedTwoTeams(app, hookUrl);
  guarded = app.app.routes.filter((route) => route.scope !== null && route.kind !== 'stream');
  writes = guarded.filter((route) => route.kind === 'write');
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

/** Returns the example of the route and some random bodies that match its schema. */
function bodiesOf({ body, ...route }: Route): (object | undefined)[] {
  if (!body) return [undefined];
  const random = fc.sample(arbitraryOf(body, [teams.inside]), { seed: 7, numRuns: 12 }) as object[];
  const check = Compile(body);
  return [exampleOf({ body, ...route }, hookUrl), ...random.filter((one) => check.Check(one))];
}

/** Returns the fields that a request writes, without use of the table. */
function namesIn(route: Route, body: object = {}): string[] {
  const inside = (name: string): string[] =>
    [Object.entries(body).find(([key]) => key === name)?.[1]].flat().flatMap((one) => Object.keys(one));
  const names = Object.keys(body).flatMap((name) => fieldsWritten(route, name, inside));
  return [...new Set([...names, ...(route.writes ?? [])])];
}

/** Operations that leave a seeded object unchanged. */
const unchanging = [
  'issues.restore',
  'fields.restore',
  'boards.restore',
  'comments.restore',
  'comments.unresolve',
  'subscribers.remove',
  'teams.unarchive',
];

test('every operation without its scope is rejected, with any other scopes', async () => {
  for (const route of guarded) {
    const answer = await askAs(
      app,
      scopesBut([route.scope!]),
      route.method,
      pathOf(route, teams.inside),
      exampleOf(route, hookUrl),
    );
    expect([route.name, answer]).toMatchObject([
      route.name,
      { status: 403, code: 'insufficient_scope', message: expect.stringContaining(route.scope!) },
    ]);
  }
});

/**
 * Operations about the install itself, like `plugins.get`, and not about data that the plugin has read.
 * Rejecting a version only stops.
 */
const ofInstall = ['settings-form', 'consent.get', 'consent.refuse', 'versions', 'usage', 'scopes'].map(
  (name) => `plugins.${name}`,
);

/**
 * An undo needs only the scopes of the objects written (test/features/plugins/undo.test.ts). Closing a route or ending
 * a shadow run only stops, like a pause.
 */
const notSteering = ['plugins.undo', 'runs.undo', 'plugins.close-route', 'plugins.stop-shadow'];

test('every operation on a plugin requires the full scopes of the plugin, and no others', async () => {
  const below = guarded.filter(
    ({ path, name }) =>
      (/^\/api\/v1\/(plugins\/\{id\}\/|runs\/)/.test(path) &&
        ![...ofInstall, ...notSteering].includes(name)) ||
      name === 'plugins.update',
  );
  expect(below.length).toBeGreaterThanOrEqual(8);
  for (const route of below) {
    // The seeded plugin has issues:read.
    const body = route.name === 'plugins.update' ? { settings: {} } : exampleOf(route, hookUrl);
    const path = pathOf(route, teams.inside);
    expect([
      route.name,
      await askAs(app, scopesBut(['issues:read']), route.method, path, body),
    ]).toMatchObject([
      route.name,
      { status: 403, code: 'insufficient_scope', message: expect.stringContaining('issues:read') },
    ]);
    const enough = await askAs(app, rightsOf({}, [route.scope!, 'issues:read']), route.method, path, body);
    expect([route.name, enough.code]).not.toEqual([route.name, 'insufficient_scope']);
    // A narrowed scope is insufficient, because the operation could pass on data beyond it.
    const part = rightsBut({ 'issues:read': { where: { team: ['ENG'] } } }, ['issues:write']);
    expect([route.name, (await askAs(app, part, route.method, path, body)).status]).toEqual([
      route.name,
      403,
    ]);
  }
});

test('fields: a write of a field outside the narrowing is rejected with its name, and succeeds with all fields granted', async () => {
  const narrowed = expect.stringContaining('is narrowed to');
  let tried = 0;
  for (const route of writes) {
    const path = pathOf(route, teams.inside);
    for (const body of bodiesOf(route)) {
      const names = namesIn(route, body);
      const narrowedTo = (fields: readonly string[]) => rightsBut({ [route.scope!]: { fields } });
      const all = await askAs(app, narrowedTo(names), route.method, path, body);
      if (!route.body && !route.writes)
        expect([route.name, all]).toMatchObject([route.name, { status: 403, code: 'insufficient_scope' }]);
      else expect([route.name, all.message]).not.toEqual([route.name, narrowed]);
      for (const left of names) {
        const answer = await askAs(
          app,
          narrowedTo(names.filter((name) => name !== left)),
          route.method,
          path,
          body,
        );
        expect([route.name, left, answer]).toMatchObject([
          route.name,
          left,
          {
            status: 403,
            code: 'insufficient_scope',
            message: expect.stringContaining(`this request writes ${left}.`),
          },
        ]);
        tried++;
      }
    }
  }
  expect(tried).toBeGreaterThan(60);
});

const scopesOfTeams = ['issues', 'comments', 'attachments', 'cycles', 'boards', 'labels', 'teams'];
/**
 * Operations under the workflow scopes whose objects belong to a team; calendars and SLA policies belong to
 * none.
 */
const pathsOfTeams = /^\/api\/v1\/(workflows|fields)\b/;
const ofTeams = ({ scope, path }: Route): boolean =>
  scopesOfTeams.includes(scope!.split(':')[0]!) || pathsOfTeams.test(path);

/** The first creates a missing object, and the path of the second names a column, not an object. */
const withoutObject = new Set(['issues.external.put', 'issues.board-column']);

test('teams: every operation on an object of another team responds as for a missing one, and lists omit it', async () => {
  // Files are sent over HTTP only, where no scope is narrowed.
  for (const route of guarded.filter((one) => ofTeams(one) && one.kind !== 'upload')) {
    const [namespace] = route.scope!.split(':') as [string];
    const rights = rightsBut({
      [`${namespace}:read`]: { where: { team: ['ENG'] } },
      [`${namespace}:write`]: { where: { team: ['ENG'] } },
    });
    for (const body of bodiesOf(route)) {
      const there = await askAs(app, rights, route.method, pathOf(route, teams.outside), body);
      expect([route.name, body, there.text.includes('outside-canary')]).toEqual([route.name, body, false]);
      if (!route.params || withoutObject.has(route.name)) continue;
      const nobodys = await askAs(app, rights, route.method, pathOf(route, nowhere), body);
      expect([route.name, there.status, there.message]).toEqual([route.name, 404, nobodys.message]);
      const here = await askAs(app, rights, route.method, pathOf(route, teams.inside), body);
      const whole = await askAs(app, rightsBut({}), route.method, pathOf(route, teams.inside), body);
      // The response differs only if the body refers to an object of another team.
      if (!JSON.stringify(body ?? {}).includes('parentId'))
        expect([route.name, body, here.status]).toEqual([route.name, body, whole.status]);
    }
  }
});

test('teams: a write to another team is rejected, also when reading is not narrowed', async () => {
  for (const route of writes.filter(ofTeams)) {
    const [namespace] = route.scope!.split(':') as [string];
    const rights = rightsBut({
      [`${namespace}:write`]: { where: { team: ['ENG'] } },
      [`${namespace}:read`]: {},
    });
    for (const teamRef of [{ team: 'OUT' }, { teamKey: 'OUT' }, { teamId: teams.outside.team }]) {
      const entry = { title: 'elsewhere', ...teamRef };
      const body =
        route.name === 'issues.create'
          ? entry
          : route.name === 'issues.bulk'
            ? { issues: [{ team: 'ENG', title: 'here' }, entry] }
            : exampleBody(route);
      const there = await askAs(app, rights, route.method, pathOf(route, teams.outside), body);
      const whole = await askAs(app, rightsBut({}), route.method, pathOf(route, teams.outside), body);
      // A request without a change is no write.
      if (whole.status >= 400 || unchanging.includes(route.name)) continue;
      expect([route.name, teamRef, there]).toMatchObject([
        route.name,
        teamRef,
        {
          status: 403,
          code: 'insufficient_scope',
          message: expect.stringContaining('limited to the teams ENG'),
        },
      ]);
    }
  }
});

/** Returns a body that changes something and refers to no object of the visible team. */
function exampleBody(route: Route): object | undefined {
  if (route.name === 'issues.update') return { title: 'changed' };
  return route.body ? { body: 'changed' } : undefined;
}

test('teams: no query returns data of another team', async () => {
  const rights = rightsBut({
    'issues:write': { where: { team: ['ENG'] } },
    'issues:read': { where: { team: ['ENG'] } },
  });
  const filter = encodeURIComponent(
    JSON.stringify({ or: [{ team: 'OUT' }, { title: { contains: 'canary' } }] }),
  );
  const paths = [
    '/api/v1/issues',
    '/api/v1/issues?team=OUT',
    `/api/v1/issues?filter=${filter}`,
    '/api/v1/issues?sort=-priority,title&fields=title,description',
    '/api/v1/issues?expand=parent',
    `/api/v1/issues/${teams.inside.issue}?expand=parent`,
    '/api/v1/events?limit=100',
    '/api/v1/events?types=issue.*',
    `/api/v1/issues/${teams.inside.issue}/history`,
  ];
  for (const path of paths) {
    const whole = await askAs(app, rightsBut({}), 'GET', path);
    const answer = await askAs(app, rights, 'GET', path);
    expect([path, whole.status]).toEqual([path, 200]);
    expect([
      path,
      answer.text.replaceAll('"comment.added"', '').includes('"title":"outside-canary"'),
    ]).toEqual([path, false]);
    expect([path, answer.text.includes('description":"outside-canary')]).toEqual([path, false]);
  }
  expect((await askAs(app, rights, 'GET', '/api/v1/issues')).text).toContain('Secret of ENG');
  expect((await askAs(app, rights, 'GET', `/api/v1/events/${teams.outside.event}`)).status).toBe(404);
  expect(
    await askAs(app, rights, 'PATCH', `/api/v1/issues/${teams.inside.issue}`, {
      parentId: teams.outside.issue,
    }),
  ).toMatchObject({ status: 422 });
  expect(
    (
      await askAs(
        app,
        rightsBut({
          'comments:write': { where: { team: ['ENG'] } },
          'comments:read': { where: { team: ['ENG'] } },
        }),
        'GET',
        '/api/v1/events?limit=100',
      )
    ).text,
  ).not.toContain('"body":"outside-canary"');
});

test('teams: an operation on objects without a team requires its whole scope', async () => {
  for (const route of guarded.filter((one) => !ofTeams(one))) {
    const read = route.scope!.replace(/:write$/, ':read');
    const narrowing = { where: { team: ['ENG'] } };
    const rights = rightsBut(
      { [read]: narrowing, [route.scope!]: narrowing },
      [read.replace(':read', ':write')].filter((one) => one !== route.scope),
    );
    expect([
      route.name,
      await askAs(app, rights, route.method, pathOf(route, teams.inside), exampleOf(route, hookUrl)),
    ]).toMatchObject([
      route.name,
      { status: 403, code: 'insufficient_scope', message: expect.stringContaining('the whole scope') },
    ]);
  }
});

test('a narrowing with an unknown keyword grants nothing', async () => {
  for (const request of [{ where: { project: ['x'] } }, { where: { team: ['ENG'], project: ['x'] } }])
    expect(rightsOf({ 'issues:write': request }, ['issues:write'])).toEqual({
      scopes: new Set(),
      narrowed: null,
    });
  expect(rightsOf({ 'issues:read': { fields: ['title'] } }, ['issues:read']).scopes.size).toBe(0);
});

test('of two scopes that imply the same reads, the wider one applies', () => {
  const [eng, out] = [{ where: { team: ['ENG'] } }, { where: { team: ['OUT'] } }];
  const both = ['issues:read', 'issues:write'];
  for (const grant of [both, both.toReversed()]) {
    expect(
      rightsOf({ 'issues:read': eng, 'issues:write': out }, grant)
        .narrowed!.get('issues:read')!
        .teams!.toSorted(),
    ).toEqual(['ENG', 'OUT']);
    expect(rightsOf({ 'issues:read': {}, 'issues:write': out }, grant).scopes).toEqual(
      new Set(['issues:read']),
    );
    expect(rightsOf({ 'issues:read': eng, 'issues:write': { fields: ['title'] } }, grant).scopes).toEqual(
      new Set(['issues:read']),
    );
  }
});
