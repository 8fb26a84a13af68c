// Tests the validation of manifests: every event type without its scope, and every scope with every
// narrowing.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { pluginEventTypes } from '../../sdk/plugin/event-types.ts';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { consentLines, consentOf } from '../../core/features/plugins/installs/versions/consent.ts';
import { rightsOf } from '../../core/kernel/rights/rights.ts';
import type { PluginManifest, PluginPackage } from '../../sdk/plugin/manifest.ts';
import type { TObject, TSchema } from 'typebox';
import { startApp, type Reply, type TestApp } from '../app.ts';
import { packSource } from '../features/plugins/pack.ts';
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

/** Sends a dry-run install. */
function asking(manifest: Partial<PluginManifest>, grant: readonly string[]): Promise<Reply> {
  const document = { ...base, manifest: { ...base.manifest, ...manifest } };
  return app.call('POST', '/api/v1/plugins', { package: document, grant }, { 'tatami-mode': 'simulate' });
}
const why = { why: 'test' };

/** Returns the properties of a schema, or those of its items. */
function namesIn(schema: TSchema | undefined): string[] {
  const { properties, items } = (schema ?? {}) as Partial<TObject> & { items?: Partial<TObject> };
  return Object.keys(properties ?? items?.properties ?? {});
}

/** Returns the read scopes that a key needs to register a webhook for an event type. */
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

test('every event type needs one read scope, requested and granted, the same as for a webhook', async () => {
  const scopes = new Map<string, string[]>();
  const reads = allScopes.filter((one) => one.endsWith(':read'));
  for (const [at, type] of pluginEventTypes.entries()) {
    const on = { on: { [type]: {} }, schedules: {}, handlers: [`event:${type}`] };
    const sufficient = [];
    // The first type of a namespace is tried with each scope, and the others with their own and one other.
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

test('a narrowing is accepted if every endpoint enforces it, and rejected with the reason otherwise', async () => {
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

test('the summaries before and after installation show every scope, reason and schedule', async () => {
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
  // The read scope implied by the narrowed write scope covers only the events of these teams.
  expect(json.events).toEqual(['issue.created']);
  expect(rightsOf(manifest.scopes, ['issues:write']).narrowed!.get('issues:read')!.teams).toEqual([
    'ENG',
    'OPS',
  ]);
});
