// One object of each entity in a workspace, by the format of its id, for tests generated from the routes. An unseeded
// format fails its test, so that no new route is skipped.
import type { TSchema } from 'typebox';
import type { Route } from '../../core/kernel/http/route.ts';
import type { Contract } from '../../core/kernel/contract/contract.ts';
import { inputName, isReference } from '../../core/kernel/contract/schemas.ts';
import type { ReferenceTarget } from '../../core/kernel/contract/field.ts';
import { contracts } from '../../core/features/contracts.ts';
import { idPrefixes, patternOf } from '../../core/platform/lib/ids.ts';
import { refersTo } from '../../core/platform/lib/schema.ts';
import { makeGrant } from '../features/oauth/grant.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import type { Client, Json, TestApp } from '../app.ts';

export type Seeds = Readonly<Record<string, string>>;

/** Entity names by id prefix. */
const prefixes: ReadonlyMap<string, string> = new Map([
  ...(['event', 'delivery', 'replay', 'run', 'undo', 'backtest', 'client'] as const).map(
    (name) => [name, idPrefixes[name]] as const,
  ),
  ...contracts.flatMap(({ name, id }) => (id === null ? [] : [[name, id] as const])),
]);

/** Entity name of an id; undefined for texts that are no ids. */
export function nameOfId(text: string): string | undefined {
  for (const [name, prefix] of prefixes) if (new RegExp(patternOf(prefix)).test(text)) return name;
  return undefined;
}

/** Entity name by the schema of a parameter or property; undefined if it is no id. */
export function formOf(schema: TSchema): string | undefined {
  const { pattern, [refersTo]: to } = schema as { pattern?: string; [refersTo]?: ReferenceTarget };
  if (to) return to.name;
  if (pattern === undefined) return undefined;
  for (const [name, prefix] of prefixes) if (patternOf(prefix) === pattern.split('|')[0]) return name;
  if (pattern.startsWith('^[0-9a-f]{8}-')) return 'team';
  if (pattern === '^[a-z][a-z0-9_.-]{0,99}$') return 'pluginRef';
  return undefined;
}

/** Well-formed ids that do not exist. */
export const nowhere: Seeds = {
  ...Object.fromEntries([...prefixes].map(([name, prefix]) => [name, `${prefix}_${'0'.repeat(25)}1`])),
  team: '00000000-0000-7000-8000-000000000001',
  identifier: 'NOPE-1',
  externalId: 'of-nobody',
  pluginRef: 'com.test.nowhere',
  token: 'A'.repeat(32),
};

/** @param team key of the workspace's first team */
export async function seed(app: TestApp, call: Client, team: string, hookUrl: string): Promise<Seeds> {
  const create = async (path: string, body: object): Promise<Json> => {
    const { status, json } = await call('POST', `/api/v1${path}`, body);
    if (status !== 201 && status !== 202)
      throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(json)}`);
    return json;
  };
  const endpoint = await create('/webhooks', { url: hookUrl, events: ['issue.created'] });
  const pluginId = `com.test.seed-${team.toLowerCase()}`;
  const plugin = await install(
    call,
    await packSource(
      `{ id: '${pluginId}', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } }, net: [{ origin: 'https://9.9.9.9', why: 'test' }], secrets: { ACME_KEY: { hosts: ['https://9.9.9.9'], header: 'x-key' } }, on: { 'issue.created': { async handle(_, ctx) { await ctx.kv.set('note', 'secret of ${team}'); await ctx.schedule.once('remind', ctx.now() + 300 * 86_400_000); } } }, schedules: { nightly: { cron: '0 3 * * *', handle() {} }, remind: { handle() {} } }, routes: { hook: { method: 'POST', auth: 'hmac', why: 'test', handle() {} } } }`,
    ),
  );
  const external = { externalSource: 'seeded', externalId: `of-${team}` };
  const title = `Secret of ${team}`;
  const promise = { name: `Promise of ${team}`, filter: { title }, targetMinutes: 600 };
  const policy = await create('/sla-policies', promise);
  const issue = await create('/issues', { team, title, ...external });
  await app.settled();
  const first = async (path: string): Promise<Json> => (await call('GET', `/api/v1${path}`)).json.data[0];
  const seeds = {
    issue: issue.id,
    identifier: issue.identifier,
    externalId: external.externalId,
    member: (await create('/members', { name: `Member of ${team}` })).id,
    state: (await first(`/workflows?team=${team}`)).id,
    label: (await create('/labels', { name: `label-${team}` })).id,
    event: (await first('/events')).id,
    project: (await create('/projects', { name: `Project of ${team}` })).id,
    cycle: (
      await create('/cycles', { team, startsAt: '2031-01-06T00:00:00Z', endsAt: '2031-01-20T00:00:00Z' })
    ).id,
    comment: (await create(`/issues/${issue.id}/comments`, { body: `Secret comment of ${team}` })).id,
    webhook: endpoint.id,
    delivery: (await first(`/webhooks/${endpoint.id}/deliveries`)).id,
    replay: (await create(`/webhooks/${endpoint.id}/replays`, { afterSequence: 0 })).id,
    api_key: (await create('/api-keys', { name: 'seed', scopes: ['issues:read'] })).id,
    plugin: plugin.id,
    pluginRef: pluginId,
    run: (await first(`/plugins/${plugin.id}/runs`)).id,
    // Only writes of a plugin can be undone, and this plugin writes nothing.
    undo: `${idPrefixes.undo}_${'0'.repeat(25)}2`,
    // A client that registered itself belongs to no workspace.
    client: `${idPrefixes.client}_${'0'.repeat(25)}2`,
    token: await tokenOf(call, plugin.id),
    team: (await first('/teams')).id,
    sla_policy: policy.id,
    sla_clock: (await first(`/issues/${issue.id}/sla`)).id,
  };
  const reaction = await create(`/comments/${seeds.comment}/reactions`, { emoji: '👍' });
  const { key } = await create('/api-keys', {
    name: 'other',
    scopes: ['comments:write'],
    memberId: seeds.member,
  });
  await app.clientOf(key)('POST', `/api/v1/issues/${issue.id}/comments`, { body: `An answer of ${team}` });
  await app.settled();
  const item = await first('/inbox');
  const other = await create('/issues', { team, title: `Other secret of ${team}` });
  const all: Record<string, string> = {
    ...seeds,
    reaction: reaction.id,
    inbox_item: item.id,
    relation: (await create(`/issues/${issue.id}/relations`, { type: 'relates_to', issueId: other.id })).id,
    // A board of all issues, grouped by state type.
    board: (await create('/boards', { name: `Board of ${team}`, groupBy: 'stateType' })).id,
    view: (await create('/views', { name: `View of ${team}`, visibility: 'shared' })).id,
    favorite: (await create('/favorites', { type: 'issue', targetId: issue.id })).id,
    backtest: (await create(`/plugins/${plugin.id}/backtests`, {})).id,
    subscriber: (await first(`/issues/${issue.id}/subscribers`)).id,
    oauth_app: (await create('/oauth-apps', { name: `App of ${team}`, redirectUris: ['https://a.example/'] }))
      .id,
    grant: await grantOf(app, call, team),
    template: (await create('/templates', { name: `Template of ${team}`, team })).id,
  };
  for (const { name, path, parent, fields, examples } of contracts) {
    if (all[name] !== undefined || !examples?.create) continue;
    const body = { ...examples.create, ...referredBy({ fields }, all) };
    all[name] = (await create(parent ? `/${parent.path}/${all[parent.name]}/${path}` : `/${path}`, body)).id;
  }
  await call('POST', `/api/v1/releases/${all.release}/issues`, { issueIds: [issue.id] });
  // A completed cycle, so that an issue was carried over.
  await call('PATCH', `/api/v1/issues/${issue.id}`, { cycleId: seeds.cycle });
  for (const action of ['start', 'complete']) await call('POST', `/api/v1/cycles/${seeds.cycle}/${action}`);
  const proposed = await call(
    'PATCH',
    `/api/v1/issues/${other.id}`,
    { priority: 'low' },
    { 'tatami-mode': 'propose' },
  );
  all.proposal = proposed.json.id;
  // No background work changes the seeds from here on.
  await app.settled();
  return all;
}

/** A grant of the key's member to an app. */
async function grantOf(app: TestApp, call: Client, team: string): Promise<string> {
  const { member, workspace } = (await call('GET', '/api/v1/me')).json;
  const client = { name: `Client of ${team}` };
  return makeGrant(app, { memberId: member.id, client }, workspace.id);
}

/** The token in the address of the plugin's route, after opening it. */
async function tokenOf(call: Client, plugin: string): Promise<string> {
  const { json } = await call('POST', `/api/v1/plugins/${plugin}/routes/hook/open`);
  return new URL(json.url).pathname.split('/').at(-2)!;
}

/** Required references of a creation, from the seeds; references by name are in the example. */
export function referredBy(
  { fields }: Pick<Contract, 'fields'>,
  seeds: Seeds,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) =>
      isReference(field) && field.by === 'id' && field.options.required
        ? [[inputName(name, field), seeds[field.to.name]!]]
        : [],
    ),
  );
}

/** Names of actions, schedules and routes in the seeded plugin, by path. */
function nameIn(path: string): string {
  if (path.includes('/secrets/')) return 'ACME_KEY';
  if (path.includes('/scheduled/')) return 'remind';
  return /\/(hooks|routes)\//.test(path) ? 'hook' : 'nightly';
}

/** The path of a route with its ids filled in from `seeds`. @throws Error for a format without a seed */
export function fillPath(path: string, params: TSchema | undefined, seeds: Seeds): string {
  const properties = (params as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {};
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'key') return 'note';
    if (name === 'name') return nameIn(path);
    if (name === 'token') return seeds.token!;
    if (name === 'identifier') return 'ENG-1';
    if (name === 'code') return 'not_found';
    if (name === 'column') return 'backlog';
    if (name === 'source') return 'seeded';
    if (name === 'externalId') return seeds.externalId!;
    const form = formOf(properties[name] ?? {});
    const id = form === undefined ? undefined : seeds[form];
    if (id === undefined)
      throw new Error(`The parameter ${name} of ${path} has no seed. Add its format to test/api/seeds.ts.`);
    return id;
  });
}

/** The query that a route requires: ids of comments that do not exist. Empty for other routes. */
export const requiredQueryOf = ({ query }: Pick<Route, 'query'>): string =>
  (query as { readonly required?: readonly string[] } | undefined)?.required?.includes('ids')
    ? `?ids=${nowhere['comment']!}`
    : '';

/** The example body of a route, with the address of a test receiver. */
export function exampleOf(route: Route, hookUrl: string): object | undefined {
  const example = route.example as object | undefined;
  return example !== undefined && 'url' in example ? { ...example, url: hookUrl } : example;
}
