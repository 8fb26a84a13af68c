// One object of each kind in a workspace, by the form of its id, for tests that are generated from the routes. A form that
// nobody seeded fails the test that meets it, so that a new route cannot escape.
import type { TSchema } from 'typebox';
import type { Route } from '../../core/http/route.ts';
import { contracts } from '../../core/contracts.ts';
import { idPrefixes, patternOf } from '../../core/lib/ids.ts';
import { install, packSource } from '../plugins/pack.ts';
import type { Client, Json, TestApp } from '../app.ts';

export type Seeds = Readonly<Record<string, string>>;

/** The forms of ids, by the name of what has them. */
const prefixes: ReadonlyMap<string, string> = new Map([
  ...(['event', 'delivery', 'replay', 'run'] as const).map((name) => [name, idPrefixes[name]] as const),
  ...contracts.flatMap(({ name, id }) => (id === null ? [] : [[name, id] as const])),
]);

/** A form's name by the schema of a parameter or property; undefined where it is no id. */
export function formOf(schema: TSchema): string | undefined {
  const { pattern } = schema as { pattern?: string };
  if (pattern === undefined) return undefined;
  for (const [name, prefix] of prefixes) if (patternOf(prefix) === pattern.split('|')[0]) return name;
  if (pattern.startsWith('^[0-9a-f]{8}-')) return 'team';
  if (pattern === '^[a-z][a-z0-9_.-]{0,99}$') return 'pluginRef';
  return undefined;
}

/** Ids of the same forms that nothing has. */
export const nowhere: Seeds = {
  ...Object.fromEntries([...prefixes].map(([name, prefix]) => [name, `${prefix}_${'0'.repeat(25)}1`])),
  team: '00000000-0000-7000-8000-000000000001',
  identifier: 'NOPE-1',
  externalId: 'of-nobody',
  pluginRef: 'com.test.nowhere',
};

/** @param team key of the workspace's first team */
export async function seed(app: TestApp, call: Client, team: string, hookUrl: string): Promise<Seeds> {
  const made = async (path: string, body: object): Promise<Json> => {
    const { status, json } = await call('POST', `/api/v1${path}`, body);
    if (status !== 201 && status !== 202)
      throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(json)}`);
    return json;
  };
  const endpoint = await made('/webhooks', { url: hookUrl, events: ['issue.created'] });
  const pluginId = `com.test.seed-${team.toLowerCase()}`;
  const plugin = await install(
    call,
    await packSource(
      `{ id: '${pluginId}', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } }, on: { 'issue.created': { handle: (_, ctx) => ctx.kv.set('note', 'secret of ${team}') } }, schedules: { nightly: { cron: '0 3 * * *', handle() {} } } }`,
    ),
  );
  const external = { externalSource: 'seeded', externalId: `of-${team}` };
  const issue = await made('/issues', { team, title: `Secret of ${team}`, ...external });
  await app.settled();
  const first = async (path: string): Promise<Json> => (await call('GET', `/api/v1${path}`)).json.data[0];
  const seeds = {
    issue: issue.id,
    identifier: issue.identifier,
    externalId: external.externalId,
    member: (await made('/members', { name: `Member of ${team}` })).id,
    state: (await first(`/workflows?team=${team}`)).id,
    label: (await made('/labels', { name: `label-${team}` })).id,
    event: (await first('/events')).id,
    project: (await made('/projects', { name: `Project of ${team}` })).id,
    comment: (await made(`/issues/${issue.id}/comments`, { body: `Secret comment of ${team}` })).id,
    webhook: endpoint.id,
    delivery: (await first(`/webhooks/${endpoint.id}/deliveries`)).id,
    replay: (await made(`/webhooks/${endpoint.id}/replays`, { afterSequence: 0 })).id,
    api_key: (await made('/api-keys', { name: 'seed', scopes: ['issues:read'] })).id,
    plugin: plugin.id,
    pluginRef: pluginId,
    run: (await first(`/plugins/${plugin.id}/runs`)).id,
    team: (await first('/teams')).id,
  };
  const all: Record<string, string> = seeds;
  for (const { name, path, parent, examples } of contracts)
    if (all[name] === undefined && examples?.create)
      all[name] = (
        await made(parent ? `/${parent.path}/${all[parent.name]}/${path}` : `/${path}`, examples.create)
      ).id;
  // Nothing of it moves on its own from here.
  await app.settled();
  return all;
}

/** A route's path with its ids filled in from `seeds`. @throws Error for a form without a seed */
export function fillPath(path: string, params: TSchema | undefined, seeds: Seeds): string {
  const properties = (params as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {};
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'key') return 'note';
    if (name === 'name') return 'nightly';
    if (name === 'identifier') return 'ENG-1';
    if (name === 'code') return 'not_found';
    if (name === 'source') return 'seeded';
    if (name === 'externalId') return seeds.externalId!;
    const form = formOf(properties[name] ?? {});
    const id = form === undefined ? undefined : seeds[form];
    if (id === undefined)
      throw new Error(`The parameter ${name} of ${path} has no seed: add its form to test/api/seeds.ts.`);
    return id;
  });
}

/** A route's example body, its address led to a receiver of the test. */
export function exampleOf(route: Route, hookUrl: string): object | undefined {
  const example = route.example as object | undefined;
  return example !== undefined && 'url' in example ? { ...example, url: hookUrl } : example;
}
