// Runs unmodified third-party programs against the endpoint: the conformance suite of the protocol and the
// command line of its inspector.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { bearer, endpointOf } from './agents.ts';
import { serveFixture } from './fixture.ts';

const conformance = dirname(
  fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json')),
);
const inspector = dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/package.json')));

let app: TestApp;
/** Adds the token that the suite cannot send. */
let proxy: Bun.Server<undefined>;
beforeAll(async () => {
  app = await startApp();
  proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: (request) => {
      const headers = new Headers({
        ...Object.fromEntries(request.headers),
        ...bearer(app.workspace.apiKey),
      });
      const { method, body } = request;
      return fetch(endpointOf(app), { method, headers, body, redirect: 'manual' });
    },
  });
});
afterAll(async () => {
  await proxy.stop(true);
  await app.stop();
});

/**
 * The installed Node, because third-party programs need a newer version than the oldest that Tatami supports.
 */
const node = join(import.meta.dir, '../../../node_modules/.bin/node');

async function run(args: readonly string[]): Promise<string> {
  const child = Bun.spawn([node, ...args], { stdout: 'pipe', stderr: 'pipe' });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  await child.exited;
  return `${out}\n${err}`;
}

const fixture = 'requires its own tools, resources or prompts by name, which Tatami does not have';
const sampling = 'requires its own tools for sampling or roots, which Tatami does not use';
const sessions = 'requires a session, and requests are stateless here';
const logging = 'sets the level of logs for clients, and Tatami sends logs to its operator only';
const tasks = 'belongs to an extension, and no work outlives its call here';

/** Scenarios that do not pass, each with its reason. Entries that pass are removed. */
const skipped: Readonly<Record<string, string>> = {
  'server-stateless': `${fixture}: 4 of its 28 checks`,
  'logging-set-level': logging,
  'tools-call-simple-text': fixture,
  'tools-call-error': fixture,
  'tools-call-image': fixture,
  'tools-call-audio': fixture,
  'tools-call-embedded-resource': fixture,
  'tools-call-mixed-content': fixture,
  'tools-call-with-logging': fixture,
  'tools-call-with-progress': fixture,
  'tools-call-sampling': sampling,
  'tools-call-elicitation': sessions,
  'json-schema-2020-12': fixture,
  'elicitation-sep1034-defaults': sessions,
  'elicitation-sep1330-enums': sessions,
  'resources-read-text': fixture,
  'resources-read-binary': fixture,
  'resources-templates-read': fixture,
  'resources-subscribe': sessions,
  'resources-unsubscribe': sessions,
  'prompts-get-simple': fixture,
  'prompts-get-with-args': fixture,
  'prompts-get-embedded-resource': fixture,
  'prompts-get-with-image': fixture,
  'http-custom-header-server-validation': fixture,
  'tasks-lifecycle': tasks,
  'tasks-capability-negotiation': tasks,
  'tasks-wire-fields': tasks,
  'tasks-request-state-removal': tasks,
  'tasks-mrtr-input': tasks,
  'tasks-request-headers': tasks,
  'tasks-dispatch-and-envelope': tasks,
  'tasks-required-task-error': tasks,
  'tasks-mrtr-composition': tasks,
  'input-required-result-basic-elicitation': fixture,
  'input-required-result-basic-sampling': sampling,
  'input-required-result-basic-list-roots': sampling,
  'input-required-result-request-state': fixture,
  'input-required-result-multiple-input-requests': fixture,
  'input-required-result-multi-round': fixture,
  'input-required-result-non-tool-request': fixture,
  'input-required-result-result-type': fixture,
  'input-required-result-tampered-state': fixture,
  'input-required-result-capability-check': fixture,
};

/** Returns the scenarios by result, sorted. */
async function conform(url: string): Promise<{ passed: string[]; failed: string[]; said: string }> {
  const suite = join(conformance, 'dist/index.js');
  const said = await run([suite, 'server', '--url', url, '--suite', 'all', '--timeout', '10000']);
  const results = [...said.matchAll(/^([✓✗]) ([a-z0-9-]+): \d+ passed/gm)];
  const of = (mark: string): string[] =>
    results
      .filter(([, one]) => one === mark)
      .map(([, , name]) => name!)
      .sort();
  return { passed: of('✓'), failed: of('✗'), said };
}

test('the conformance suite passes, except for the listed scenarios', async () => {
  const { passed, failed, said } = await conform(new URL(endpointOf(app).pathname, proxy.url).href);
  expect(failed).toEqual(Object.keys(skipped).sort());
  expect(passed).toEqual(
    expect.arrayContaining([
      ...['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list', 'caching'],
      ...['sep-2164-resource-not-found', 'dns-rebinding-protection', 'http-header-validation'],
      'completion-complete',
    ]),
  );
  expect(said).toContain('server-stateless: 24 passed, 4 failed');
}, 60_000);

/** Scenarios that fail only for want of the suite's own tools, resources and prompts. */
const overTransport = [
  ...['tools-call-simple-text', 'tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource'],
  ...['tools-call-mixed-content', 'tools-call-error', 'tools-call-with-progress', 'json-schema-2020-12'],
  ...['resources-read-text', 'resources-read-binary', 'resources-templates-read', 'prompts-get-simple'],
  ...['prompts-get-with-args', 'prompts-get-embedded-resource', 'prompts-get-with-image'],
];

test('protocol features that Tatami does not use pass through its transport', async () => {
  const fixtures = serveFixture();
  try {
    const { passed } = await conform(fixtures.url.href);
    expect(passed.filter((name) => overTransport.includes(name))).toEqual(overTransport.toSorted());
  } finally {
    await fixtures.stop(true);
  }
}, 60_000);

test("the inspector's command line lists tools, and calls one", async () => {
  const launcher = join(inspector, 'clients/launcher/build/index.js');
  const cliArgs = [launcher, '--cli', endpointOf(app).href, '--transport', 'http'];
  const header = ['--header', `Authorization: Bearer ${app.workspace.apiKey}`];
  const listed = await run([...cliArgs, '--method', 'tools/list', ...header]);
  expect(listed).toContain('"issues_update"');
  const called = await run([
    ...[...cliArgs, '--method', 'tools/call', '--tool-name', 'issues_create'],
    ...['--tool-arg', 'team=ENG', '--tool-arg', 'title=By the inspector', ...header],
  ]);
  expect(called).toContain('By the inspector');
  const { data }: Json = (await app.call('GET', '/api/v1/issues?limit=1')).json;
  expect(data[0].title).toBe('By the inspector');
}, 60_000);
