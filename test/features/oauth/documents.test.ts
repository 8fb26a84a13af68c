// Clients identified by a metadata URL (draft-ietf-oauth-client-id-metadata-document), fetched over TLS on
// loopback. openssl creates the certificates for the run; without openssl these tests are skipped.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgress, type Egress, type Resolve } from '../../../core/platform/lib/egress/egress.ts';
import { ClientRefused, type OAuthClient } from '../../../core/features/oauth/clients/client.ts';
import {
  createDocuments,
  isDocumentId,
  type Documents,
} from '../../../core/features/oauth/clients/documents.ts';
import { createOAuthClients } from '../../../core/features/oauth/runtime.ts';
import { createClock, startApp } from '../../app.ts';

const minuteMs = 60_000;
const isPossible = Bun.which('openssl') !== null;
const testTls = test.skipIf(!isPossible);

type Answer = (url: URL) => Response | Promise<Response>;

let folder = '';
let server: Bun.Server<undefined>;
let roots: string[] = [];
let requests: string[] = [];
const answers = new Map<string, Answer>();
const open: Egress[] = [];
const toLoopback: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];

beforeAll(() => {
  if (!isPossible) return;
  folder = mkdtempSync(join(tmpdir(), 'documents-tls-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...ec, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=Test CA');
  openssl('req', ...ec, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', '/CN=client.test');
  writeFileSync(join(folder, 'san'), 'subjectAltName=DNS:client.test');
  const ca = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'san'];
  openssl('x509', '-req', '-in', 'leaf.csr', ...ca, '-out', 'leaf.crt');
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  roots = [read('ca.crt')];
  server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    tls: { key: read('leaf.key'), cert: read('leaf.crt') },
    fetch(request) {
      const url = new URL(request.url);
      requests.push(`${request.method} ${url.pathname}`);
      return answers.get(url.pathname)?.(url) ?? new Response(null, { status: 404 });
    },
  });
});
afterAll(async () => {
  for (const egress of open) egress.close();
  if (!isPossible) return;
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

const idOf = (path: string): string => `https://client.test:${server.port}${path}`;
const sent = (path: string, more: object = {}): string =>
  JSON.stringify({
    client_id: idOf(path),
    client_name: 'Agent',
    redirect_uris: ['http://127.0.0.1/cb'],
    ...more,
  });
const json = (body: string, headers: Record<string, string> = {}): Response =>
  new Response(body, { headers: { 'content-type': 'application/json', ...headers } });
/** Serves a document at a path. @returns its client_id */
function put(path: string, more: object = {}, headers: Record<string, string> = {}): string {
  answers.set(path, () => json(sent(path, more), headers));
  return idOf(path);
}
const clock = createClock();
function documents(startTimer?: (fire: () => void, afterMs: number) => () => void): Documents {
  const egress = createEgress({
    ...{ allow: ['127.0.0.0/8'], ownPort: () => undefined, resolve: toLoopback, extraRoots: roots },
    ...(startTimer && { startTimer }),
  });
  open.push(egress);
  requests = [];
  return createDocuments({ egress, nowMs: clock.nowMs });
}
async function refusal(find: Promise<OAuthClient | null>): Promise<string> {
  const error: unknown = await find.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ClientRefused);
  return (error as ClientRefused).message;
}

test('only an https URL that every parser reads alike is a client_id of a document', () => {
  for (const id of ['https://a.example/client', 'https://a.example/', 'https://a.example:8443/c?v=1'])
    expect([id, isDocumentId(id)]).toEqual([id, true]);
  const others = [
    ...['http://a.example/client', 'https://a.example', 'HTTPS://a.example/c', 'https://A.example/c'],
    ...[
      'https://a.example/c#f',
      'https://u@a.example/c',
      'https://u:p@a.example/c',
      'https://a.example/a/../c',
    ],
    ...[
      'https://a.example/%2e%2e/c',
      'https://a.example:443/c',
      'https://a.example\\@b.example/c',
      'ftp://a.example/c',
    ],
    ...['https:///c', 'app_1', '', ` https://a.example/c`, `https://a.example/${'a'.repeat(1000)}`],
  ];
  for (const id of others) expect([id, isDocumentId(id)]).toEqual([id, false]);
});

testTls('a client is what its document says, fetched once while fresh', async () => {
  const find = documents();
  const id = put('/agent', { client_uri: 'https://agent.example/', token_endpoint_auth_method: 'none' });
  const client = await find.find(id);
  expect(client).toEqual({
    ...{ id, kind: 'document', name: 'Agent', homepage: 'https://agent.example/', confidential: false },
    ...{ redirectUris: ['http://127.0.0.1/cb'], grantTypes: ['authorization_code'], registeredIn: null },
  });
  await Promise.all([find.find(id), find.find(id)]);
  expect(requests).toEqual(['GET /agent']);
});

testTls('many concurrent requests for one document make one fetch', async () => {
  const find = documents();
  const id = put('/at-once');
  const clients = await Promise.all(Array.from({ length: 20 }, () => find.find(id)));
  expect([clients.every((client) => client?.id === id), requests]).toEqual([true, ['GET /at-once']]);
});

testTls('a document is cached as its headers say, for at least five minutes and at most a day', async () => {
  const cases: readonly (readonly [header: string | null, keptMs: number])[] = [
    [null, 5 * minuteMs],
    ['no-store', 5 * minuteMs],
    ['max-age=1', 5 * minuteMs],
    ['public, max-age=1800', 30 * minuteMs],
    ['max-age=31536000', 24 * 60 * minuteMs],
  ];
  for (const [header, cachedMs] of cases) {
    const find = documents();
    const id = put('/kept', {}, header === null ? {} : { 'cache-control': header });
    await find.find(id);
    clock.advance(cachedMs - 1);
    await find.find(id);
    expect([header, requests.length]).toEqual([header, 1]);
    clock.advance(1);
    await find.find(id);
    expect([header, requests.length]).toEqual([header, 2]);
  }
});

testTls('an invalid document is rejected, and the message names the fix', async () => {
  const find = documents();
  const key = { kty: 'EC' };
  const cases: readonly (readonly [name: string, more: object, says: RegExp])[] = [
    ['other-id', { client_id: 'https://client.test/other' }, /differs from its URL/],
    ['no-id', { client_id: undefined }, /differs from its URL/],
    ['secret', { client_secret: 'x' }, /contains a client_secret/],
    ['basic', { token_endpoint_auth_method: 'client_secret_basic' }, /not supported. Use none/],
    [
      'jwt',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key] } },
      /not supported. Use none/,
    ],
    ['redirect', { redirect_uris: ['http://app.example/cb'] }, /Use https/],
    ['no-redirect', { redirect_uris: undefined }, /redirect_uris/],
    ['name', { client_name: 'Goo\u202egle' }, /client_name/],
    ['implicit', { response_types: ['token'] }, /response_types/],
  ];
  for (const [name, more, says] of cases) {
    const message = await refusal(find.find(put(`/said/${name}`, more), name));
    expect([name, says.test(message) || message]).toEqual([name, true]);
  }
});

testTls('a response that is no document is rejected, and no redirect is followed', async () => {
  const find = documents();
  const whole = put('/elsewhere');
  const cases: Readonly<Record<string, readonly [Answer, RegExp]>> = {
    redirect: [() => new Response(null, { status: 302, headers: { location: whole } }), /status 302/],
    missing: [() => new Response('{}', { status: 404 }), /status 404/],
    html: [
      () => new Response(sent('/bad/html'), { headers: { 'content-type': 'text/html' } }),
      /not JSON|not valid JSON/,
    ],
    'text-json': [
      () => new Response(sent('/bad/text-json'), { headers: { 'content-type': 'text/json' } }),
      /not JSON|not valid JSON/,
    ],
    broken: [() => json('{'), /not JSON|not valid JSON/],
    latin: [
      () =>
        new Response(Buffer.from([0x22, 0xe9, 0x22]), { headers: { 'content-type': 'application/json' } }),
      /not JSON|not valid JSON/,
    ],
    list: [() => json('[]'), /must be a JSON object/],
    oversized: [() => json(sent('/bad/oversized', { pad: 'x'.repeat(5_000) })), /larger than 5120/],
  };
  for (const [name, [answer, says]] of Object.entries(cases)) {
    answers.set(`/bad/${name}`, answer);
    const message = await refusal(find.find(idOf(`/bad/${name}`)));
    expect([name, says.test(message) || message]).toEqual([name, true]);
  }
  expect(requests).not.toContain('GET /elsewhere');
});

testTls('a slow server is given up', async () => {
  let fire = (): void => undefined;
  const timers: number[] = [];
  const find = documents((give, afterMs) => {
    timers.push(afterMs);
    fire = give;
    return () => undefined;
  });
  let answer = (): void => undefined;
  answers.set('/slow', async () => {
    await new Promise<void>((resolve) => {
      answer = resolve;
      fire();
    });
    return json(sent('/slow'));
  });
  expect(await refusal(find.find(idOf('/slow')))).toContain('could not be fetched');
  expect(Math.max(...timers)).toBeLessThanOrEqual(5_000);
  answer();
});

testTls('a failed fetch is repeated after a minute, and can then succeed', async () => {
  const find = documents();
  answers.set('/later', () => new Response(null, { status: 503 }));
  for (let i = 0; i < 3; i++) await refusal(find.find(idOf('/later')));
  expect(requests).toHaveLength(1);
  put('/later');
  clock.advance(minuteMs);
  expect(await find.find(idOf('/later'))).toMatchObject({ name: 'Agent' });
});

testTls('one host gets at most thirty fetches a minute, and one peer only its quota of them', async () => {
  const find = documents();
  const admitted: number[] = [];
  for (let peer = 0; peer < 3; peer++) {
    const before = requests.length;
    for (let i = 0; i < 12; i++)
      await find.find(put(`/many/${peer}/${i}`), `192.0.2.${peer}`).catch(() => null);
    admitted.push(requests.length - before);
  }
  expect(await refusal(find.find(put('/many/0/more'), '192.0.2.0'))).toContain('Try again in a minute');
  for (const count of admitted) expect([count > 0, count < 12]).toEqual([true, true]);
  expect(requests.length).toBeLessThan(30);
  clock.advance(minuteMs);
  expect(await find.find(idOf('/many/0/more'), '192.0.2.0')).not.toBeNull();
});

test('no private address is fetched, even one that the operator allowed for webhooks', async () => {
  const app = await startApp({ flags: { egressAllow: '127.0.0.0/8,10.0.0.0/8,::1/128' } });
  let resolved = '127.0.0.1';
  const resolve: Resolve = async () => [
    { address: '93.184.215.14', family: 4 },
    { address: resolved, family: resolved.includes(':') ? 6 : 4 },
  ];
  const own = createOAuthClients({ services: app.services, resolve, port: 1, gone: () => undefined });
  const addresses = ['127.0.0.1', '10.0.0.7', '169.254.169.254', '192.168.1.1', '100.64.0.1', '0.0.0.0'];
  for (const address of [...addresses, '::1', 'fd00::1', 'fe80::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1']) {
    resolved = address;
    const id = `https://rebinding.example/${encodeURIComponent(address)}`;
    expect([address, await refusal(own.clients.find(id, address))]).toEqual([
      address,
      expect.stringContaining('leads to'),
    ]);
  }
  for (const host of ['127.0.0.1', '[::1]', '10.0.0.7', '169.254.169.254']) {
    const message = await refusal(own.clients.find(`https://${host}/client`));
    expect([host, message]).toEqual([host, expect.stringContaining('leads to')]);
  }
  own.stop();
  await app.stop();
});
