import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { ask, type Client } from './client.ts';

const commandLine: Client = { id: 'tatami-cli', secret: null, redirectUri: 'http://127.0.0.1/callback' };

let app: TestApp;
beforeAll(async () => void (app = await startApp({ flags: { rateLimit: 'on', rateRead: '5' } })));
afterAll(() => app.stop());

test('ASVS 2.4.1: guessing tokens and starting device requests ends in 429, and works again a minute later', async () => {
  const guess = () =>
    ask(app, '/oauth/token', commandLine, { grant_type: 'refresh_token', refresh_token: 'guessed' });
  const statuses: number[] = [];
  for (let count = 0; count < 4; count++) statuses.push((await guess()).status);
  statuses.push((await ask(app, '/oauth/device', commandLine, {})).status);
  const limited = await guess();
  expect([...statuses, limited.status]).toEqual([400, 400, 400, 400, 200, 429]);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  app.clock.advance(60_000);
  expect((await guess()).status).toBe(400);
});

test('ASVS 2.4.1: a body larger than any request of the protocol is rejected unread', async () => {
  app.clock.advance(60_000);
  const big = await ask(app, '/oauth/token', commandLine, { grant_type: 'x'.repeat(60_000) });
  expect([big.status, big.json.error]).toEqual([413, 'invalid_request']);
});
