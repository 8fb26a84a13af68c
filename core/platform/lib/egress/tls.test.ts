/**
 * Over TLS, the receiver must prove the name in the URL before it gets any byte of the request, although the
 * connection goes directly to an address. Certificates are created with openssl; without openssl these tests
 * are skipped.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { createEgress, type Egress } from './egress.ts';
import { EgressError } from './error.ts';

const hasOpenssl = Bun.which('openssl') !== null;
const testTls = test.skipIf(!hasOpenssl);

let directory = '';
let server: tls.Server | null = null;
let port = 0;
let received = '';
let handshakes: (string | false | null)[] = [];
const open: Egress[] = [];
const read = (name: string): string => fs.readFileSync(path.join(directory, name), 'utf8');

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
}

beforeAll(async () => {
  if (!hasOpenssl) return;
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'egress-tls-'));
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...ec, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=Test CA');
  openssl('req', ...ec, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', '/CN=hooks.test');
  fs.writeFileSync(path.join(directory, 'san'), 'subjectAltName=DNS:hooks.test,IP:127.0.0.8');
  const ca = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'san'];
  openssl('x509', '-req', '-in', 'leaf.csr', ...ca, '-out', 'leaf.crt');
  const receiver = tls.createServer({ key: read('leaf.key'), cert: read('leaf.crt') }, (socket) => {
    handshakes.push(socket.servername);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
  });
  server = receiver;
  receiver.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => receiver.listen(0, '0.0.0.0', resolve));
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  port = address.port;
});

afterAll(() => {
  for (const egress of open) egress.close();
  server?.close();
  if (directory !== '') fs.rmSync(directory, { recursive: true });
});

function build(trusted: boolean): Egress {
  const egress = createEgress({
    allow: ['127.0.0.0/8'],
    ownPort: () => undefined,
    extraRoots: trusted ? [read('ca.crt')] : [],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  open.push(egress);
  return egress;
}

async function send(egress: Egress, host: string): Promise<string> {
  received = '';
  handshakes = [];
  const request = {
    url: `https://${host}:${port}/`,
    method: 'POST',
    headers: { 'x-a': 'secret' },
    body: 'body',
  } as const;
  const limits = { connectTimeoutMs: 5_000, totalTimeoutMs: 15_000, responseBytesMax: 1_000 };
  return await egress.send({ ...request, ...limits }).then(
    (response) => `${response.status} from ${response.address}`,
    (error: unknown) => (error instanceof EgressError ? `${error.code}, sent: ${error.sent}` : String(error)),
  );
}

testTls('a trusted certificate for the name in the URL is accepted, with that name in SNI', async () => {
  expect(await send(build(true), 'hooks.test')).toBe('200 from 127.0.0.1');
  expect(handshakes).toEqual(['hooks.test']);
  expect(received.toLowerCase()).toContain(`\r\nhost: hooks.test:${port}`);
});

testTls(
  'a certificate for another name is refused, also after a good connection to the same address',
  async () => {
    const egress = build(true);
    expect(await send(egress, 'other.test')).toBe('tls, sent: false');
    expect(await send(egress, 'hooks.test')).toBe('200 from 127.0.0.1');
    expect(await send(egress, 'other.test')).toBe('tls, sent: false');
    expect(received).toBe('');
  },
);

testTls('an untrusted certificate is rejected before a byte of the request is seen', async () => {
  expect(await send(build(false), 'hooks.test')).toBe('tls, sent: false');
  expect(received).toBe('');
});

testTls('a literal address must be in the certificate', async () => {
  expect(await send(build(true), '127.0.0.8')).toBe('200 from 127.0.0.8');
  expect(await send(build(true), '127.0.0.1')).toBe('tls, sent: false');
  expect(received).toBe('');
});

testTls('certificate verification and the egress path do not depend on the environment', async () => {
  const changed = {
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    HTTPS_PROXY: 'http://127.0.0.1:1',
    HTTP_PROXY: 'http://127.0.0.1:1',
  };
  const script = `
    import { createEgress } from ${JSON.stringify(path.join(import.meta.dir, 'egress.ts'))};
    const egress = createEgress({ allow: ['127.0.0.0/8'], ownPort: () => undefined,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }], extraRoots: [${JSON.stringify(read('ca.crt'))}] });
    const send = (host) => egress.send({ url: 'https://' + host + ':${port}/', method: 'POST', headers: {},
      connectTimeoutMs: 5000, totalTimeoutMs: 15000, responseBytesMax: 100 }).then((r) => r.status, (e) => e.code);
    console.log(JSON.stringify([await send('hooks.test'), await send('other.test')]));
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, '-e', script], {
    env: { ...process.env, ...changed },
    stderr: 'pipe',
  });
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual([200, 'tls']);
});

testTls('a receiver is reached only if its certificate is valid, and sees no byte', async () => {
  received = '';
  await build(true).reach(`https://hooks.test:${port}/`, 5_000);
  const refused = await build(true)
    .reach(`https://other.test:${port}/`, 5_000)
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'tls' });
  expect(received).toBe('');
});
