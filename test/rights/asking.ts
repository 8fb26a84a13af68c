// Asks at the door as a plugin with chosen rights, and seeds two teams whose texts can be told apart. Nothing asked is committed:
// writes are simulated.
import { effectsOf } from '../../core/rights/effects.ts';
import type { Route } from '../../core/http/route.ts';
import { allScopes, expandScopes } from '../../core/rights/scopes.ts';
import { rightsOf, type Rights, type ScopeRequests } from '../../core/rights/rights.ts';
import { scopeOf } from '../../core/store/store.ts';
import type { Json, TestApp } from '../app.ts';
import { asText, routeAt } from '../value-client.ts';
import { fillPath, nowhere, seed, type Seeds } from '../api/seeds.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Of an error; else undefined. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** All scopes but those that `narrowed` names, which are held as it narrows them. */
export function rightsBut(narrowed: ScopeRequests, without: readonly string[] = []): Rights {
  const left = allScopes.filter((scope) => !(scope in narrowed) && !without.includes(scope));
  const requests = { ...Object.fromEntries(left.map((scope) => [scope, {}])), ...narrowed };
  return rightsOf(requests, Object.keys(requests));
}

/** Properties of bodies that are another name for the one that ends in `Id`. */
const otherNames = new Set([
  ...['state', 'assignee', 'project', 'milestone', 'parent', 'cycle', 'template', 'lead', 'calendar'],
]);

/** The fields that a property of a route's body writes, said a second time. @param inside what its value or its schema holds */
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

/** All scopes but these, not even implied. */
export function scopesBut(without: readonly string[]): Rights {
  const scopes = allScopes.filter(
    (scope) => !without.some((one) => [...expandScopes([scope])].includes(one)),
  );
  return rightsOf({}, scopes);
}

/** @param path may have a query @param memberId the member that it acts for; null for a plugin as they are, which acts for none */
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
        // Of operations with effects beyond objects plugins have none, whatever they hold (test/rights/effects.test.ts).
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
  return fillPath(route.path, route.params, ids);
}

export interface TwoTeams {
  readonly inside: Seeds;
  readonly outside: Seeds;
}

/** `ENG` is the inside. Each text of the other team's issues and comments holds `outside-canary`. */
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
  /** What may belong to a team, and does. */
  const ofTeam = async (key: string, name: string) => ({
    label: (await create('/labels', { name, team: key })).id,
    field: (await create('/fields', { key: `of_${key.toLowerCase()}`, name, type: 'text', team: key })).id,
    state: (await create('/workflows', { name, type: 'started', team: key })).id,
    board: (await create('/boards', { name, team: key, groupBy: 'stateType' })).id,
  });
  const [here, there] = [await ofTeam('ENG', 'inside'), await ofTeam('OUT', 'outside-canary')];
  // An issue of the inside that refers to one of the outside.
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
