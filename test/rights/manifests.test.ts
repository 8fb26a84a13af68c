// What a manifest may ask: every event type × its scope missing, and every scope × every narrowing, at the door that installs.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { pluginEventTypes } from '../../sdk/plugin/event-types.ts';
import { allScopes } from '../../core/rights/scopes.ts';
import { consentLines } from '../../core/plugins/consent.ts';
import { consentOf } from '../../core/plugins/installs/consent.ts';
import { rightsOf } from '../../core/rights/rights.ts';
import type { PluginManifest, PluginPackage } from '../../sdk/plugin/manifest.ts';
import type { TObject, TSchema } from 'typebox';
import { startApp, type Reply, type TestApp } from '../app.ts';
import { packSource } from '../plugins/pack.ts';
import { fieldsWritten } from './asking.ts';

let app: TestApp;
let base: PluginPackage;

beforeAll(async () => {
  app = await startApp();
  base = await packSource(
    `{ id: 'com.test.asks', version: '1.0.0', engines: { tatami: '*' }, schedules: { nightly: { cron: '0 3 * * *', handle() {} } } }`,
  );
});
afterAll(() => app.stop());

/** Simulated: only the answer counts. */
function asking(manifest: Partial<PluginManifest>, grant: readonly string[]): Promise<Reply> {
  const document = { ...base, manifest: { ...base.manifest, ...manifest } };
  return app.call('POST', '/api/v1/plugins', { package: document, grant }, { 'tatami-mode': 'simulate' });
}
const why = { why: 'test' };

/** The properties that a schema names, or that of its entries. */
function namesIn(schema: TSchema | undefined): string[] {
  const { properties, items } = (schema ?? {}) as Partial<TObject> & { items?: Partial<TObject> };
  return Object.keys(properties ?? items?.properties ?? {});
}

/** The read scopes with which a key may register a webhook for an event type. */
async function neededFor(type: string): Promise<string[]> {
  const hook = { url: 'https://hooks.acme.example/', events: [type] };
  const needed = [];
  for (const scope of allScopes.filter((one) => one.endsWith(':read'))) {
    const call = app.clientOf(await app.mintKey(['webhooks:write', scope]));
    const { status } = await call('POST', '/api/v1/webhooks', hook, { 'tatami-mode': 'simulate' });
    if (status !== 403) needed.push(scope);
  }
  return needed;
}

test('every event type needs one read scope, asked and granted, and it is the one that a webhook needs', async () => {
  const scopes = new Map<string, string[]>();
  const reads = allScopes.filter((one) => one.endsWith(':read'));
  for (const [at, type] of pluginEventTypes.entries()) {
    const on = { on: { [type]: {} }, schedules: {}, handlers: [`event:${type}`] };
    const sufficient = [];
    // Of the first type of a namespace each scope is tried, of the others its own and, in turn, another.
    const own = scopes.get(type.split('.')[0]!);
    const tried = own ? new Set([...own, reads[at % reads.length]!, 'webhooks:read']) : reads;
    for (const scope of tried) {
      const { status, json } = await asking({ ...on, scopes: { [scope]: why } }, [scope]);
      if (status === 422) {
        expect(json.error.details).toMatchObject([
          { path: `package.manifest.on.${type}`, issue: 'required' },
        ]);
        continue;
      }
      expect([type, status, json.events, json.stateReason]).toEqual([type, 201, [type], null]);
      sufficient.push(scope);
      const ungranted = await asking({ ...on, scopes: { [scope]: why } }, []);
      expect([type, ungranted.json.events, ungranted.json.stateReason]).toEqual([
        type,
        [],
        `Not delivered: ${type} needs ${scope}. Grant the scope.`,
      ]);
    }
    const namespace = type.split('.')[0]!;
    if (!scopes.has(namespace)) scopes.set(namespace, await neededFor(type));
    // Registering a webhook implies reading webhooks.
    const needed = namespace === 'webhook' ? ['webhooks:read'] : scopes.get(namespace)!;
    expect([type, sufficient]).toEqual([type, needed]);
    expect(sufficient.length).toBe(1);
  }
}, 60_000);

test('a narrowing is taken where every door holds it, and refused with the reason where one does not', async () => {
  const byTeam = ['issues', 'comments', 'attachments', 'cycles', 'boards', 'labels', 'teams'].flatMap(
    (one) => [`${one}:read`, `${one}:write`],
  );
  for (const scope of allScopes) {
    const tried = await asking({ scopes: { [scope]: { ...why, where: { team: ['ENG'] } } } }, [scope]);
    expect([scope, tried.status]).toEqual([scope, byTeam.includes(scope) ? 201 : 422]);
    if (tried.status === 422)
      expect(tried.json.error.details[0]).toMatchObject({
        path: `package.manifest.scopes.${scope}.where.team`,
        fix: expect.stringContaining('cannot be narrowed by team'),
      });
    const project = await asking({ scopes: { [scope]: { ...why, where: { project: ['x'] } } } }, [scope]);
    expect([scope, project.status]).toEqual([scope, 422]);

    const written = app.app.routes
      .filter((route) => route.scope === scope && scope.endsWith(':write'))
      .flatMap((route) => [
        ...namesIn(route.body).flatMap((name) =>
          fieldsWritten(route, name, (one) => namesIn((route.body as Partial<TObject>).properties?.[one])),
        ),
        ...(route.writes ?? []),
      ]);
    for (const field of [...written, 'nonsense']) {
      const fields = await asking({ scopes: { [scope]: { ...why, fields: [field] } } }, [scope]);
      expect([scope, field, fields.status]).toEqual([scope, field, written.includes(field) ? 201 : 422]);
    }
  }
  expect(await asking({ scopes: { 'nothing:read': why } }, [])).toMatchObject({ status: 422 });
});

test('what is shown before and after installing says all of it', async () => {
  const manifest = {
    ...base.manifest,
    scopes: {
      'issues:read': { why: 'look at issues' },
      'issues:write': {
        why: 'set priority',
        fields: ['priority', 'labels'],
        where: { team: ['ENG', 'OPS'] },
      },
    },
    on: { 'issue.created': {} },
    handlers: ['event:issue.created', 'schedule:nightly'],
  };
  const version = { manifest, sha256: 'f'.repeat(64), publisher: null, unknownKey: null };
  expect(consentLines(manifest.id, consentOf(version, null), null)).toEqual([
    'com.test.asks 1.0.0 requests:',
    '  Read issues, with all their fields. (issues:read: look at issues)',
    '  Read issues, and write only their priority and labels, of team ENG or OPS only. (issues:write: set priority)',
    '  Receive issue.created events.',
    '  Run nightly on the schedule 0 3 * * * (UTC).',
    '  Not signed.',
    `  sha256 ${'f'.repeat(64)}`,
  ]);
  await app.call('POST', '/api/v1/teams', { key: 'OPS' });
  const { json } = await asking(manifest, ['issues:write']);
  expect(json.scopes).toEqual([
    {
      ...{ scope: 'issues:read', sentence: 'Read issues, with all their fields.' },
      ...{ why: 'look at issues', fields: null, where: null, granted: false },
    },
    {
      scope: 'issues:write',
      sentence: 'Read issues, and write only their priority and labels, of team ENG or OPS only.',
      why: 'set priority',
      fields: ['priority', 'labels'],
      where: { team: ['ENG', 'OPS'] },
      granted: true,
    },
  ]);
  // The read that the narrowed write implies brings the events of these teams alone.
  expect(json.events).toEqual(['issue.created']);
  expect(rightsOf(manifest.scopes, ['issues:write']).narrowed!.get('issues:read')!.teams).toEqual([
    'ENG',
    'OPS',
  ]);
});
