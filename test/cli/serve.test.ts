// `tatami serve`: readiness output, shutdown, and the output of the first start.
import { expect, test } from 'bun:test';
import { createVisitor } from '../features/sign-in/visitor.ts';
import { serveTatami, tatami, temporary } from './tatami.ts';

test('the first start prints a working key and a set-up link once; later starts name the command for keys', async () => {
  using dir = temporary();
  const args = ['--data-dir', dir.path('data'), '--first-start'];
  const first = await serveTatami(args, /ready in \d+ ms/);
  expect(first.start).toContain('(new)');
  expect(first.start).toContain(`${first.url}/docs`);
  expect(first.start).toContain('NOT in backups');
  expect(first.start).toContain(`keys create --data-dir ${dir.path('data')} `);
  const [link = ''] = new RegExp(`${first.url}/join/\\S{43}`).exec(first.start) ?? [];
  expect((await fetch(link)).status).toBe(200);
  const [key] = /ttm_\w+/.exec(first.start) ?? [];
  const created = await fetch(`${first.url}/api/v1/issues`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"team":"ENG","title":"Crash when saving a file"}',
  });
  expect(created.status).toBe(201);
  first.child.kill('SIGINT');
  expect(await first.child.exited).toBe(0);

  const second = await serveTatami(args, /ready in \d+ ms/);
  expect(second.start).toContain('(existing)');
  expect(second.start).not.toContain('ttm_');
  expect(second.start).not.toContain('/join/');
  expect(second.start).toContain('1 workspace: My workspace; 1 plugin: auto-triage');
  expect(second.start).toContain(`keys create --data-dir ${dir.path('data')} `);
  second.child.kill('SIGTERM');
  expect(await second.child.exited).toBe(0);
});

test('a password is compared by a server from the bundle', async () => {
  using dir = temporary();
  const served = await serveTatami(['--data-dir', dir.path('data'), '--first-start'], /ready in \d+ ms/);
  const visitor = createVisitor(served);
  await visitor.get('/sign-in');
  const attempt = { email: 'nobody@acme.example', password: 'an unknown password' };
  expect((await visitor.post('/sign-in', attempt)).status).toBe(422);
  served.child.kill('SIGTERM');
  expect(await served.child.exited).toBe(0);
});

test('SIGTERM completes the request that is in flight, then exits 0', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  const initResult = await tatami([
    'init',
    '--data-dir',
    dataDir,
    '--workspace',
    'A',
    '--team',
    'ENG',
    '--json',
  ]);
  const { child, start, url, said } = await serveTatami(['--data-dir', dataDir, '--json']);
  expect(JSON.parse(start)).toMatchObject({ url, dataDir });

  const body = '{"team":"ENG","title":"In flight"}';
  const answer = Promise.withResolvers<string>();
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(url).port),
    socket: { data: (_, data) => answer.resolve(data.toString()), close: () => answer.resolve('closed') },
  });
  socket.write(
    `POST /api/v1/issues HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${initResult.json.apiKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  );
  socket.flush();
  // A response on another connection shows that the server has read the earlier request.
  await fetch(`${url}/healthz`);
  child.kill('SIGTERM');
  await said('stopping');
  socket.write(body.slice(10));
  socket.flush();
  expect(await answer.promise).toStartWith('HTTP/1.1 201');
  expect(await child.exited).toBe(0);
});

test('a second signal ends the server at once, but signals in quick succession count as one', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  const { child, url, start, said } = await serveTatami(['--data-dir', dataDir], /ready in \d+ ms/);
  // An empty directory is served, and the output names the command that creates a workspace.
  expect(start).toContain(`init --data-dir ${dataDir} --workspace`);
  expect(start).toContain('--first-start');
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(url).port),
    socket: { data() {} },
  });
  socket.write('POST /api/v1/issues HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n');
  socket.flush();
  const dripping = setInterval(() => socket.write('x'), 100);
  await fetch(`${url}/healthz`);
  child.kill('SIGTERM');
  child.kill('SIGINT');
  await said('stopping');
  await Bun.sleep(700);
  expect(child.exitCode).toBeNull();
  child.kill('SIGTERM');
  expect(await child.exited).toBe(130);
  clearInterval(dripping);
});

test('a taken port, a taken data directory and an invalid setting each name the remedy', async () => {
  using dir = temporary();
  const { child, url, said } = await serveTatami(['--data-dir', dir.path('one'), '--json']);
  // If stdout is machine-readable, human-readable output goes to stderr.
  await said('init --data-dir');
  const { port } = new URL(url);
  const [taken, inUse, wrong, network, unknown] = await Promise.all([
    tatami(['serve', '--data-dir', dir.path('two'), '--port', port, '--json']),
    tatami(['serve', '--data-dir', dir.path('one'), '--port', '0', '--json']),
    tatami(['serve', '--data-dir', dir.path('two'), '--json'], { TATAMI_PORT: 'http' }),
    tatami(['serve', '--data-dir', dir.path('two'), '--egress-allow', '10.0.0.1', '--json']),
    tatami(['serve', '--data-dir', dir.path('three'), '--port', '0', '--host', 'nowhere.invalid', '--json']),
  ]);
  child.kill('SIGTERM');
  await child.exited;
  expect([taken.code, taken.json.error.message]).toEqual([1, expect.stringContaining('--port')]);
  expect([inUse.code, inUse.json.error.message]).toEqual([1, expect.stringContaining('--data-dir')]);
  expect([wrong.code, wrong.json.error.message]).toEqual([2, expect.stringContaining('TATAMI_PORT')]);
  expect([network.code, network.json.error.message]).toEqual([
    2,
    expect.stringContaining('--egress-allow must be CIDRs'),
  ]);
  // A host name may become resolvable later.
  expect([unknown.code, unknown.json.error.message]).toEqual([1, expect.stringContaining('--host')]);
});
