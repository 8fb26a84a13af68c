import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { runInNode } from '../../browser/run.ts';
import { ask, authorizePath, pkce, registerApp, type Client } from './client.ts';

interface Walked {
  readonly went: Readonly<Record<string, string>>;
  readonly seen: readonly string[];
  readonly complaints: readonly string[];
  readonly violations: readonly string[];
}

let app: TestApp;
/** Receives the redirects of the apps. */
let listener: ReturnType<typeof Bun.serve>;
beforeAll(async () => {
  app = await startApp();
  listener = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response('<title>The app</title><link rel="icon" href="data:,">', {
        headers: { 'content-type': 'text/html' },
      }),
  });
});
afterAll(async () => {
  await listener.stop(true);
  await app.stop();
});

test('a person authorizes apps and devices, with and without scripts, without axe violations', async () => {
  const redirectUri = `http://127.0.0.1:${listener.port}/callback`;
  const known = await registerApp(app, { redirectUris: [redirectUri] });
  const registered = await fetch(`${app.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Stranger',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
    }),
  });
  const { client_id: id } = (await registered.json()) as { client_id: string };
  const stranger: Client = { id, secret: null, redirectUri };
  const device = { id: 'tatami-cli', secret: null, redirectUri };
  const codes = [await ask(app, '/oauth/device', device, {}), await ask(app, '/oauth/device', device, {})];
  const { challenge } = pkce();
  const resource = `${app.url}/api/mcp/streamable-http`;
  const walked = await runInNode<Walked>('oauth-process.ts', [
    app.workspace.setUpUrl,
    app.url + authorizePath(known, challenge),
    app.url + authorizePath(stranger, challenge),
    app.url + authorizePath(stranger, challenge, { resource }),
    ...codes.map(({ json }) => json.user_code as string),
    app.url,
  ]);
  // The browser also logs the error pages of the test, which have a 4xx status.
  const complaints = walked.complaints.filter((text) => !/responded with a status of 4\d\d/.test(text));
  expect({ ...walked, complaints }).toEqual({
    went: {
      known: 'code iss state',
      stranger: 'error error_description iss state',
      agent: 'code iss state',
      device: 'Your device is connected · Tatami',
      plain: 'code iss state',
      plainDevice: 'Your device is connected · Tatami',
    },
    seen: [
      'Authorize Burndown? · Tatami',
      'Authorize Stranger? · Tatami',
      'Authorize Stranger? · Tatami',
      'This request has ended · Tatami',
      'Connect a device · Tatami',
      'Connect a device · Tatami',
      'Your device is connected · Tatami',
    ],
    complaints: [],
    violations: [],
  });
}, 60_000);
