// Hostile plugins in the whole system: while one runs on every new issue, three victims handle each issue exactly once,
// the API responds, no event is lost, and the attack is recorded for the operator.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { describePlugin } from '../../../core/platform/sandbox/describe.ts';
import { packageFormat, sha256Hex, type PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { bundlePlugin } from '../../../sdk/plugin/bundle.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

/** One attack for each outcome: killed in time, out of memory, process lost, refused, harmless. */
const oneOfEach = [
  'loop',
  'memory-objects',
  'split-characters',
  'rejection-late',
  'resizable-buffer',
  'calls-million',
  'argument-huge',
  'absent-globals',
];
/** Other attacks with the same outcomes; test/sandbox/attacks.test.ts runs all of them every time. */
const alike = [
  'rejection-getters',
  'promise-bomb',
  'regex',
  'memory-map',
  'replace-all',
  'index-of',
  'bigint-power',
];
const attacks = process.env.TATAMI_LONG ? [...oneOfEach, ...alike] : oneOfEach;
const harmless = ['absent-globals'];
const issuesEach = 2;

let app: TestApp;
let victims: Json[];
let issues = 0;

async function packAttack(name: string): Promise<PluginPackage> {
  const { code } = await bundlePlugin(join(import.meta.dir, '../../sandbox/attacks', `${name}.js`));
  const manifest = (await describePlugin(code)) as PluginPackage['manifest'];
  return {
    format: packageFormat,
    manifest: { ...manifest, id: `test.attack.${name}` },
    code,
    sha256: await sha256Hex(code),
  };
}

beforeAll(async () => {
  app = await startApp();
  victims = [];
  for (const name of ['one', 'two', 'three'])
    victims.push(
      await install(
        app.call,
        await packSource(`{
          id: 'test.victim.${name}', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
          on: { 'issue.created': { handle: async (event, ctx) => {
            await ctx.issues.get(event.data.id);
            await ctx.kv.increment('met');
          } } },
        }`),
      ),
    );
});
afterAll(() => app.stop());

describe('beside three victims:', () => {
  for (const name of attacks)
    test(name, async () => {
      const hostile = await install(app.call, await packAttack(name));
      for (let i = 0; i < issuesEach; i++) {
        expect(
          (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: `${name} ${i}` })).status,
        ).toBe(201);
        issues++;
      }
      expect((await app.call('GET', '/api/v1/issues?limit=5')).status).toBe(200);
      await app.settled();
      // Killed runs are retried once, after which no run may be open.
      for (let retries = 0; retries < 8; retries++) {
        app.clock.advance(5 * 3_600_000);
        await app.settled();
      }
      const runs: Json[] = (await app.call('GET', `/api/v1/plugins/${hostile.id}/runs`)).json.data;
      expect(runs.length).toBe(issuesEach);
      for (const run of runs) {
        expect(run.status).toBe(harmless.includes(name) ? 'succeeded' : 'dead');
        if (run.status === 'dead') expect(run.error.message.length).toBeGreaterThan(0);
      }
      for (const victim of victims) {
        expect((await app.call('GET', `/api/v1/plugins/${victim.id}/kv/met`)).json.value).toBe(issues);
        expect((await app.call('GET', `/api/v1/plugins/${victim.id}`)).json.state).toBe('active');
      }
      expect((await app.call('DELETE', `/api/v1/plugins/${hostile.id}`)).status).toBe(204);
    });
});

test('no event is lost, and no attack changes an issue', async () => {
  const created = [];
  for (let after = 0; ;) {
    const { data, pageInfo } = (await app.call('GET', `/api/v1/events?limit=100&after=${after}`)).json;
    created.push(...data);
    after = data.at(-1).sequence;
    if (!pageInfo.hasNextPage) break;
  }
  expect(created.map((event: Json) => event.sequence)).toEqual(
    created.map((_: Json, index: number) => index + 1),
  );
  expect(created.filter((event: Json) => event.type === 'issue.created').length).toBe(issues);
  expect(created.filter((event: Json) => event.type === 'issue.updated')).toEqual([]);
});
