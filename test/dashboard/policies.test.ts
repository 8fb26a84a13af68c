// Content security policies of the web app.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';
import { join } from '../features/sign-in/member.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const directives = (headers: Headers): readonly string[] =>
  headers.get('content-security-policy')!.split('; ');

test('the shared worker may reach the server, and only it', async () => {
  const { visitor } = await join(app);
  const { headers, text } = await visitor.get('/boards');
  expect(directives(headers)).toContain("worker-src 'self'");
  const worker = /<meta\s[^>]*name="worker"[^>]*content="([^"]+)"/s.exec(text)![1]!;
  const script = await visitor.get(worker);
  expect(script.status).toBe(200);
  expect(directives(script.headers)).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ]);
});
