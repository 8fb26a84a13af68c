// Only event types that the server emits can be subscribed to, because other subscriptions would never match
// (docs/spec/events.md › Types). The emitted types are those that the document describes as webhook requests.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { EVENT_TYPES } from '../../sdk/generated/events.ts';
import type { EventType } from '../../core/kernel/events/catalogue.ts';
import { scopeOfEvent } from '../../core/kernel/rights/rights.ts';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { packSource } from '../features/plugins/pack.ts';

/** Declared types that nothing emits. */
const unsent = ['issue.escalated', 'automation.started'];
const expectedTypes = [...new Set<string>([...EVENT_TYPES, ...unsent])].toSorted();

let app: TestApp;
let document: Json;
let sent: string[];

beforeAll(async () => {
  app = await startApp({ resolve: () => Promise.resolve([{ address: '93.184.216.34', family: 4 }]) });
  document = (await app.call('GET', '/api/v1/openapi.json')).json;
  sent = Object.keys(document.webhooks).toSorted();
});
afterAll(() => app.stop());

const simulated = { 'tatami-mode': 'simulate' };

test('a webhook can subscribe to every emitted type and to no other', async () => {
  const accepted = [];
  for (const type of expectedTypes) {
    const hook = { url: 'https://hooks.acme.example/', events: [type] };
    const { status } = await app.call('POST', '/api/v1/webhooks', hook, simulated);
    if (status === 201) accepted.push(type);
    else expect([type, status]).toEqual([type, 422]);
  }
  expect(accepted).toEqual(sent);
});

test('a subscription to all types needs the read scope of every type', async () => {
  const hook = { url: 'https://hooks.acme.example/', events: ['*'] };
  const scopes = allScopes.filter((scope) => !scope.startsWith('releases:'));
  const but = app.clientOf(await app.mintKey(scopes));
  const refused = await but('POST', '/api/v1/webhooks', hook, simulated);
  expect([refused.status, refused.json.error.message]).toEqual([
    403,
    expect.stringContaining('releases:read'),
  ]);
  expect((await app.call('POST', '/api/v1/webhooks', hook, simulated)).status).toBe(201);
});

test('a plugin can subscribe to every emitted type except those about runs', async () => {
  const base = await packSource(
    `{ id: 'com.test.hears', version: '1.0.0', engines: { tatami: '*' }, schedules: { nightly: { cron: '0 3 * * *', handle() {} } } }`,
  );
  // Events of all inboxes need a scope of their own.
  const read = ['inboxes:read', ...new Set(sent.map((type) => scopeOfEvent(type as EventType)))];
  const scopes = Object.fromEntries(read.map((scope) => [scope, { why: 'test' }]));
  const accepted = [];
  for (const type of expectedTypes) {
    const manifest = {
      ...base.manifest,
      scopes,
      on: { [type]: {} },
      schedules: {},
      handlers: [`event:${type}`],
    };
    const installBody = { package: { ...base, manifest }, grant: Object.keys(scopes) };
    const { status } = await app.call('POST', '/api/v1/plugins', installBody, simulated);
    if (status === 201) accepted.push(type);
    else expect([type, status]).toEqual([type, 422]);
  }
  expect(accepted).toEqual(sent.filter((type) => type !== 'automation.run' && type !== 'automation.failed'));
});

test('every list of event types in the document contains exactly the emitted types', () => {
  const lists: { at: string; types: string[] }[] = [];
  const visit = (value: Json, at: string): void => {
    if (value === null || typeof value !== 'object') return;
    const { enum: values } = value;
    if (Array.isArray(values) && values.length > 1 && values.every((one) => expectedTypes.includes(one)))
      lists.push({ at, types: values });
    for (const [name, inner] of Object.entries(value)) visit(inner, `${at}/${name}`);
  };
  visit(document, '#');
  expect(lists.length).toBeGreaterThan(0);
  for (const { at, types } of lists) expect([at, types.toSorted()]).toEqual([at, sent]);
});
