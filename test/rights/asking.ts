// Sends requests as a plugin with chosen scopes, in dry-run mode, and seeds two teams with distinguishable
// texts.
import { effectsOf } from '../../core/kernel/rights/effects.ts';
import type { Route } from '../../core/kernel/http/route.ts';
import { allScopes, expandScopes } from '../../core/kernel/rights/table.ts';
import { rightsOf, type Rights, type ScopeRequests } from '../../core/kernel/rights/rights.ts';
import { scopeOf } from '../../core/platform/store/store.ts';
import type { Json, TestApp } from '../app.ts';
import { asText, routeAt } from '../value-client.ts';
import { fillPath, nowhere, requiredQueryOf, seed, type Seeds } from '../api/seeds.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The error code; undefined after success. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** Grants all scopes, narrowed as `narrowed` says. */
export function rightsBut(narrowed: ScopeRequests, without: readonly string[] = []): Rights {
  const left = allScopes.filter((scope) => !(scope in narrowed) && !without.includes(scope));
  const requests = { ...Object.fromEntries(left.map((scope) => [scope, {}])), ...narrowed };
  return rightsOf(requests, Object.keys(requests));
}

/** Body properties that are an alias of one that ends in `Id`. */
const otherNames = new Set([
  ...[
    'state',
    'assignee',
    'project',
    'milestone',
    'parent',
    'cycle',
    'template',
    'lead',
    'calendar',
    'owner',
  ],
]);

/**
 * Returns the fields that a property of a body writes, independently of the product code.
 * @param inside the value or schema of the property
 */
export function fieldsWritten(
  route: Route,
  name: string,
  inside: (name: string) => readonly string[],
): readonly string[] {
  if (name === 'addLabels' || name === 'removeLabels') return ['labels'];
  if (otherNames.has(name) && !route.name.startsWith('plugins.')) return [`${name}Id`];
  if (route.name === 'boards.move' || route.name === 'issues.reorder') return [];
  if (!/^(issues\.bulk|releases\.issues)/.test(route.name)) return [name];
  if (name === 'ids' || name === 'filter') return [];
  if (name === 'issues' || name === 'set')
    return inside(name).flatMap((one) => fieldsWritten(route, one, inside));
  return [name];
}

/** Grants all scopes except these and those that imply them. */
export function scopesBut(without: readonly string[]): Rights {
  const scopes = allScopes.filter(
    (scope) => !without.some((one) => [...expandScopes([scope])].includes(one)),
  );
  return rightsOf({}, scopes);
}

/**
 * @param path may have a query
 * @param memberId the member on whose behalf the caller acts; null for a plugin without one
 */
export async function askAs(
  app: TestApp,
  rights: Rights,
  method: string,
  path: string,
  body?: unknown,
  memberId: string | null = app.workspace.userId,
): Promise<Answer> {
  const { pathname, searchParams } = new URL(path, app.url);
  const [route, params] = routeAt(app, method, pathname);
  const outcome = await app.app.caller(asText)(route, {
    principal: {
      scope: scopeOf(app.workspace.workspaceId),
      actor: {
        // Plugins cannot call operations with effects beyond objects (test/rights/effects.test.ts).
        kind: effectsOf(route.name) ? 'api_key' : 'plugin',
        id: nowhere.plugin!,
        name: 'Asking',
        ...(memberId === null ? {} : { memberId }),
      },
      ...rights,
      tokenId: 'asking',
    },
    isCounted: false,
    params,
    query: Object.fromEntries(searchParams),
    body,
    mode: 'simulate',
  });
  if (!outcome.error)
    return {
      status: outcome.status,
      text: outcome.body ?? '',
      code: undefined,
      message: undefined,
    };
  const { status, code, message, details } = outcome.error;
  return { status, text: JSON.stringify({ code, message, details }), code, message };
}

export function pathOf(route: Route, ids: Seeds): string {
  return fillPath(route.path, route.params, ids) + requiredQueryOf(route);
}

export interface TwoTeams {
  readonly inside: Seeds;
  readonly outside: Seeds;
}

/**
 * The visible team is `ENG`. Every text in issues and comments of the other team contains `outside-canary`.
 */
export async function seedTwoTeams(app: TestApp, hookUrl: string): Promise<TwoTeams> {
  const create = async (path: string, body: object): Promise<Json> => {
    const { status, json, text } = await app.call('POST', `/api/v1${path}`, body);
    if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
    return json;
  };
  const inside = await seed(app, app.call, 'ENG', hookUrl);
  const team = await create('/teams', { key: 'OUT' });
  const external = { externalSource: 'seeded', externalId: 'of-OUT' };
  const issue = await create('/issues', {
    ...external,
    team: 'OUT',
    title: 'outside-canary',
    description: 'outside-canary',
  });
  const comment = await create(`/issues/${issue.id}/comments`, { body: 'outside-canary' });
  const second = await create('/issues', { team: 'OUT', title: 'outside-canary too' });
  const relation = await create(`/issues/${issue.id}/relations`, { type: 'relates_to', issueId: second.id });
  const template = await create('/templates', { name: 'outside-canary', team: 'OUT' });
  const attached = { title: 'outside-canary', url: 'https://example.com/outside-canary' };
  const attachment = await create(`/issues/${issue.id}/attachments`, attached);
  const span = { startsAt: '2031-01-06T00:00:00Z', endsAt: '2031-01-20T00:00:00Z' };
  const cycle = await create('/cycles', { team: 'OUT', name: 'outside-canary', ...span });
  const reaction = await create(`/comments/${comment.id}/reactions`, { emoji: '👍' });
  /** Objects that can belong to a team. */
  const ofTeam = async (key: string, name: string) => ({
    label: (await create('/labels', { name, team: key })).id,
    field: (await create('/fields', { key: `of_${key.toLowerCase()}`, name, type: 'text', team: key })).id,
    state: (await create('/workflows', { name, type: 'started', team: key })).id,
    board: (await create('/boards', { name, team: key, groupBy: 'stateType' })).id,
  });
  const [here, there] = [await ofTeam('ENG', 'inside'), await ofTeam('OUT', 'outside-canary')];
  // An issue of the visible team that refers to one of the other team.
  await app.call('PATCH', `/api/v1/issues/${inside.issue}`, { parentId: issue.id });
  const [event] = (await app.call('GET', '/api/v1/events?types=issue.created&limit=100')).json.data.filter(
    (one: Json) => one.data.id === issue.id,
  );
  await app.settled();
  return {
    inside: { ...inside, ...here },
    outside: {
      ...inside,
      ...there,
      issue: issue.id,
      attachment: attachment.id,
      externalId: external.externalId,
      comment: comment.id,
      relation: relation.id,
      template: template.id,
      cycle: cycle.id,
      reaction: reaction.id,
      team: team.id,
      event: event.id,
    },
  };
}
