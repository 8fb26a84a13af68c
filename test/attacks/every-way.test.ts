// Every operation × every indirect path to it × role × credential: approval, undo, actions, one-time runs and agents
// grant nothing that the direct request refuses. A seed selects roles and credentials and is printed; `TATAMI_LONG=1`
// tries all.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Principal } from '../../core/kernel/http/principal.ts';
import type { Route } from '../../core/kernel/http/route.ts';
import { membershipOf } from '../../core/features/people/model.ts';
import { hostCallsOf } from '../../core/features/plugins/host-calls/gateway.ts';
import { rightsForApp, type Role } from '../../core/kernel/rights/roles.ts';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { commonRights } from '../../core/kernel/rights/rights.ts';
import { scopeOf } from '../../core/platform/store/store.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { exampleOf } from '../api/seeds.ts';
import { connect } from '../features/agents/agents.ts';
import { makeGrant } from '../features/oauth/grant.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { pathOf, seedTwoTeams, type TwoTeams } from '../rights/asking.ts';
import { printedSeed, randomOf } from '../random.ts';
import { asText, keyAuthenticateOf, routeAt } from '../value-client.ts';

const isLong = process.env.TATAMI_LONG !== undefined;
const v1 = '/api/v1';
const hookUrl = 'http://127.0.0.1:1/';
/**
 * Operations reserved for the author: an approval lets the author perform it, and an undo restores the author's text.
 * Neither requires the approver to be the author.
 */
const ofAuthors = [
  'comments.update',
  'comments.delete',
  'project-updates.update',
  'project-updates.delete',
  'reactions.delete',
];
const roles: readonly Role[] = ['owner', 'admin', 'member', 'guest'];

/** A caller: a key of a role with all scopes, or an app of an owner with all scopes for apps. */
interface Caller {
  readonly name: string;
  readonly principal: Principal;
  /** Token of the key; null for an app. */
  readonly token: string | null;
  /** Ends the key or the grant. */
  readonly end: readonly [method: string, path: string];
}

let app: TestApp;
let teams: TwoTeams;
let callers: Caller[];
let writes: Route[];
const { below: draw } = randomOf(printedSeed());

const some = (): readonly Caller[] => (isLong ? callers : [callers[draw(callers.length)]!]);

async function keyOf(role: Role): Promise<Caller> {
  const more = role === 'guest' ? { teams: ['ENG'] } : {};
  const { json: member } = await app.call('POST', `${v1}/members`, { name: `The ${role}`, role, ...more });
  const terms = { name: role, memberId: member.id, scopes: allScopes };
  const { json: key } = await app.call('POST', `${v1}/api-keys`, terms);
  const principal = await keyAuthenticateOf(app)(key.key);
  return { name: role, principal: principal!, token: key.key, end: ['DELETE', `api-keys/${key.id}`] };
}

async function appOf(memberId: string): Promise<Caller> {
  const scope = scopeOf(app.workspace.workspaceId);
  const membership = (await membershipOf(app.services.store, scope, memberId))!;
  const client = { id: 'https://agent.example/client.json', name: 'Agent' };
  const everything = { scopes: new Set(allScopes), narrowed: null };
  const grantId = await makeGrant(app, { memberId, client, scopes: [...allScopes] });
  const principal: Principal = {
    ...{ scope, tokenId: grantId, grant: { id: grantId, resource: 'api', guarded: [] } },
    actor: { kind: 'app', ...client, memberId },
    ...rightsForApp(commonRights(everything, membership.rights)),
  };
  return { name: 'app', principal, token: null, end: ['DELETE', `grants/${grantId}`] };
}

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  teams = await seedTwoTeams(app, hookUrl);
  callers = [];
  for (const role of roles) callers.push(await keyOf(role));
  callers.push(await appOf(app.workspace.userId));
  writes = app.app.routes.filter((route) => route.scope !== null && route.kind === 'write');
});
afterAll(() => app.stop());

interface Outcome {
  readonly status: number;
  readonly code: string | undefined;
  readonly body: Json;
}

async function ask(
  { principal }: Pick<Caller, 'principal'>,
  route: Route,
  path: string,
  body?: unknown,
  mode: 'commit' | 'simulate' | 'propose' = 'simulate',
): Promise<Outcome> {
  const [, params] = routeAt(app, route.method, path);
  const outcome = await app.app.caller(asText)(route, {
    ...{ principal, isCounted: false, mode, params },
    ...(body === undefined ? {} : { body }),
  });
  if (outcome.error) return { status: outcome.error.status, code: outcome.error.code, body: null };
  return {
    status: outcome.status,
    code: undefined,
    body: outcome.body === null ? null : JSON.parse(outcome.body),
  };
}

const at = (route: Route): [path: string, body: unknown] => [
  pathOf(route, teams.inside),
  route.body ? exampleOf(route, hookUrl) : undefined,
];
const routeOf = (name: string): Route => app.app.route(name);
const direct = (caller: Caller, route: Route): Promise<Outcome> => ask(caller, route, ...at(route));
const isDenied = ({ status }: Outcome): boolean => status === 403 || status === 401;

/** Proposal of the operation by an owner; null if it cannot be proposed. */
async function proposalOf(route: Route, by: Pick<Caller, 'principal'>): Promise<string | null> {
  const { status, body } = await ask(by, route, ...at(route), 'propose');
  return status === 202 && body?.effects ? body.id : null;
}

const owner = async (): Promise<Pick<Caller, 'principal'>> => ({
  principal: (await keyAuthenticateOf(app)(app.workspace.apiKey))!,
});

test('approval: a caller without the operation cannot approve it, with the same error code', async () => {
  const by = await owner();
  let tried = 0;
  for (const route of writes) {
    const id = await proposalOf(route, by);
    if (id === null || ofAuthors.includes(route.name)) continue;
    for (const caller of some()) {
      const refused = await direct(caller, route);
      const approval = await ask(caller, routeOf('proposals.approve'), `${v1}/proposals/${id}/approve`, {});
      tried++;
      if (isDenied(refused))
        expect([route.name, caller.name, isDenied(approval)]).toEqual([route.name, caller.name, true]);
      // The role table lets no app and no guest approve; for the others the error is that of the direct request.
      if (
        isDenied(refused) &&
        ['admin', 'member'].includes(caller.name) &&
        approval.code !== 'insufficient_scope'
      )
        expect([route.name, caller.name, approval.code]).toEqual([route.name, caller.name, refused.code]);
    }
  }
  expect(tried).toBeGreaterThan(40);
});

test('approval: no proposal of an ended key or app is approved', async () => {
  let tried = 0;
  for (const route of writes) {
    for (const caller of isLong ? callers : [callers[draw(callers.length)]!]) {
      const fresh =
        caller.token === null ? await appOf(app.workspace.userId) : await keyOf(caller.name as Role);
      const id = await proposalOf(route, fresh);
      if (id === null) continue;
      const [method, path] = fresh.end;
      expect((await app.call(method, `${v1}/${path}`)).status).toBe(204);
      const approval = await ask(
        await owner(),
        routeOf('proposals.approve'),
        `${v1}/proposals/${id}/approve`,
        {},
      );
      // The end of the credential rejects or closes the proposal.
      expect([route.name, caller.name, [403, 409].includes(approval.status)]).toEqual([
        route.name,
        caller.name,
        true,
      ]);
      tried++;
    }
  }
  expect(tried).toBeGreaterThan(10);
});

/** The write calls of plugins, each with its arguments. */
function hostWrites(): { route: Route; call: string; args: unknown[] }[] {
  return [...hostCallsOf(app.app.routes)].flatMap(([call, { route, takes, isRead }]) => {
    if (isRead) return [];
    const [path, body] = at(route);
    const [, params] = routeAt(app, route.method, path);
    const args = takes.flatMap((take) => (take === 'id' ? [params.id] : take === 'body' ? [body] : []));
    return [{ route, call, args }];
  });
}

test('actions and one-time runs: a plugin does only what its caller may do, and nothing once the credential has ended', async () => {
  const scopes = [...new Set(hostWrites().map(({ route }) => route.scope!))];
  const plugin = await install(
    app.call,
    await packSource(`{
      id: 'com.test.every-way', version: '1.0.0', engines: { tatami: '*' },
      scopes: ${JSON.stringify(Object.fromEntries(scopes.map((scope) => [scope, { why: 'test' }])))},
      actions: { act: { target: 'none', input: { type: 'object', properties: { call: { type: 'string' }, args: { type: 'array' }, later: { type: 'boolean' } } },
        handle: async ({ input: { call, args, later } }, ctx) => {
          if (later) return ctx.schedule.once('act:' + call, ctx.now() + 1000, { call, args });
          const [space, method] = call.split('.');
          await ctx[space][method](...args);
        } } },
      schedules: { act: { handle: async ({ data: { call, args } }, ctx) => {
        const [space, method] = call.split('.');
        await ctx[space][method](...args);
      } } },
    }`),
  );
  const act = routeOf('plugins.call-action');
  const path = `${v1}/plugins/${plugin.id}/actions/act`;
  let tried = 0;
  for (const { route, call, args } of hostWrites())
    for (const caller of some()) {
      const refused = await direct(caller, route);
      const ended = draw(2) === 1 && caller.name !== 'owner';
      const fresh = ended
        ? caller.token === null
          ? await appOf(app.workspace.userId)
          : await keyOf(caller.name as Role)
        : caller;
      for (const later of [false, true]) {
        if (!isDenied(refused) && !ended) continue;
        const since = await app.lastSequence();
        const reply = await ask(fresh, act, path, { input: { call, args, later } }, 'commit');
        if (later && ended) await app.call(fresh.end[0], `${v1}/${fresh.end[1]}`);
        if (!later && ended && !isDenied(refused)) continue;
        app.clock.advance(2_000);
        await app.settled();
        tried++;
        const written = (await app.eventTypes(since)).filter(
          (type) => !/^(automation|api_key|grant|member|inbox|webhook)\./.test(type),
        );
        expect([call, caller.name, later, reply.status < 500, written]).toEqual([
          call,
          caller.name,
          later,
          true,
          [],
        ]);
      }
    }
  expect(tried).toBeGreaterThan(0);
});

test('agents: a tool does only what the direct request of the same key does', async () => {
  const { issue } = teams.inside;
  const hidden = teams.outside.issue;
  const tools: [tool: string, args: object, operation: string, target: string][] = [
    ['issues_create', { team: 'ENG', title: 'By an agent' }, 'issues.create', ''],
    ['issues_create', { team: 'OUT', title: 'By an agent' }, 'issues.create', ''],
    ['issues_update', { id: issue, priority: 'low' }, 'issues.update', issue!],
    ['issues_update', { id: hidden, priority: 'low' }, 'issues.update', hidden!],
    ['comments_create', { issue, body: 'By an agent' }, 'comments.create', issue!],
    ['comments_create', { issue: hidden, body: 'By an agent' }, 'comments.create', hidden!],
  ];
  for (const caller of callers.filter(({ token }) => token !== null)) {
    const agent = await connect(app, caller.token!);
    const listed = new Set((await agent.tools()).map(({ name }: Json) => name));
    for (const [tool, args, operation, target] of tools) {
      if (!listed.has(tool)) continue;
      const { id: _, issue: on, ...body } = args as Json;
      void on;
      const route = routeOf(operation);
      const { status } = await ask(caller, route, route.path.replace('{id}', target), body);
      const { code } = (await agent.call(tool, args)) as { code?: string };
      expect([caller.name, tool, args, code !== undefined]).toEqual([caller.name, tool, args, status >= 400]);
    }
    await agent.close();
  }
});

test('undo: a caller without the operation cannot undo it, with the same error code', async () => {
  let tried = 0;
  const approver = callers.find(({ name }) => name === 'owner')!;
  const by = await owner();
  for (const route of writes.toSorted(
    (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
  )) {
    const refusals = new Map<Caller, Outcome>();
    const tryers = some();
    for (const caller of tryers) refusals.set(caller, await direct(caller, route));
    const id = await proposalOf(route, by);
    if (id === null || ofAuthors.includes(route.name)) continue;
    const approval = await ask(
      approver,
      routeOf('proposals.approve'),
      `${v1}/proposals/${id}/approve`,
      {},
      'commit',
    );
    if (approval.status !== 200) continue;
    await app.settled();
    const undo = (caller: Pick<Caller, 'principal'>, mode: 'commit' | 'simulate') =>
      ask(caller, routeOf('proposals.undo'), `${v1}/proposals/${id}/undo`, undefined, mode);
    for (const caller of tryers) {
      tried++;
      const undone = await undo(caller, 'simulate');
      const isAllowed = undone.status === 200 && undone.body.changes.length > 0;
      if (
        isDenied(refusals.get(caller)!) ||
        caller.name === 'guest' ||
        caller.name === 'app' ||
        caller.name === 'member'
      )
        expect([route.name, caller.name, isAllowed]).toEqual([route.name, caller.name, false]);
    }
    await undo(by, 'commit');
    await app.settled();
  }
  expect(tried).toBeGreaterThan(30);
});
