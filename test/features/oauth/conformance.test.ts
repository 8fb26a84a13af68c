// Runs the published conformance suite of the Model Context Protocol against the authorization server.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp, type TestApp } from '../../app.ts';
import { browserOf, consent, registerApp } from './client.ts';

const root = join(import.meta.dir, '../../..');
const node = join(root, 'node_modules/.bin/node');
const suite = Bun.resolveSync('@modelcontextprotocol/conformance/dist/index.js', root);

let app: TestApp;
const dataDir = mkdtempSync(join(tmpdir(), 'tatami-conformance-'));
beforeAll(async () => void (app = await startApp({ clock: createSystemClock(), dataDir })));
afterAll(() => app.stop());

/** Returns a port that is unused at this moment. */
function freePort(): number {
  const server = Bun.serve({ port: 0, fetch: () => new Response() });
  const { port = 0 } = server;
  void server.stop(true);
  return port;
}

test('all scenarios for authorization servers pass, with a person on the consent page', async () => {
  const port = freePort();
  const redirectUri = `http://127.0.0.1:${port}/callback`;
  const client = await registerApp(app, { redirectUris: [redirectUri] });
  const browser = await browserOf(app);
  const out = mkdtempSync(join(tmpdir(), 'tatami-conformance-'));
  const suiteArgs = ['authorization', '--url', app.url, '--client-id', client.id, '--port', String(port)];
  const child = Bun.spawn([node, suite, ...suiteArgs, '--output-dir', out], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let said = '';
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk);
    const authorizeUrl = /^http\S+\/oauth\/authorize\?\S+$/m.exec(said)?.[0];
    if (authorizeUrl === undefined || !said.includes('Callback server started')) continue;
    said = said.replace(authorizeUrl, '(asked)');
    await fetch(await consent(browser, authorizeUrl.slice(app.url.length)));
  }
  rmSync(out, { recursive: true });
  expect([await child.exited, said]).toEqual([0, expect.stringContaining('2 passed, 0 failed')]);
});
