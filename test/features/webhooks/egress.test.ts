/**
 * No URL and no DNS response leads the core into a forbidden network (docs/spec/webhooks.md › Addresses). With real
 * sockets: a request that passed the check would reach a canary on a local address, and every connection attempt is
 * counted.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type net from 'node:net';
import { connectChecked } from '../../../core/platform/lib/egress/pool.ts';
import { createEgress, type Egress, type EgressOptions } from '../../../core/platform/lib/egress/egress.ts';
import { EgressError } from '../../../core/platform/lib/egress/error.ts';
import { listen, type Listener, OK_ANSWER, startCanary } from './canary.ts';
import { HOSTILE_ADDRESSES, HOSTILE_ANSWERS, HOSTILE_URLS, PUBLIC_ADDRESSES } from './ssrf-targets.ts';

let canary: Listener;
let dials: string[] = [];
const open: Egress[] = [];

beforeAll(async () => {
  canary = await startCanary();
});
afterAll(async () => {
  for (const egress of open) egress.close();
  await canary.stop();
});
beforeEach(() => {
  dials = [];
  canary.connections.length = 0;
});

function recordDial(address: string, port: number): net.Socket {
  dials.push(address);
  return connectChecked(address, port);
}

function answerWith(...addresses: string[]): EgressOptions['resolve'] {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

function build(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({
    allow: [],
    ownPort: () => undefined,
    resolve: answerWith('127.0.0.1'),
    connect: recordDial,
    ...options,
  });
  open.push(egress);
  return egress;
}

const send = (egress: Egress, url: string) =>
  egress.send({
    url,
    method: 'POST',
    headers: {},
    body: 'x',
    connectTimeoutMs: 5_000,
    totalTimeoutMs: 15_000,
    responseBytesMax: 65_536,
  });

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof EgressError)) return `not refused: ${String(error)}`;
  return error.code;
}

const REFUSALS = ['bad_url', 'refused_address'];
const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

test('the canary can be reached once the operator allows its address', async () => {
  const response = await send(build({ allow: ['127.0.0.0/8'] }), `http://127.0.0.1:${canary.port}/`);
  expect(response).toMatchObject({ status: 200, address: '127.0.0.1' });
  expect(canary.connections).toHaveLength(1);
});

test('the table has at least 120 targets', () => {
  expect(HOSTILE_URLS.length + HOSTILE_ADDRESSES.length + HOSTILE_ANSWERS.length).toBeGreaterThanOrEqual(120);
});

describe('no connection is opened for', () => {
  for (const template of HOSTILE_URLS) {
    const label =
      template.length > 80 ? `${template.slice(0, 40)}… (${template.length} characters)` : template;
    test(`the URL ${JSON.stringify(label)}`, async () => {
      const url = template.replaceAll('PORT', String(canary.port));
      expect(REFUSALS).toContain(await refusal(send(build(), url)));
      expect(REFUSALS).toContain(await refusal(build().checkUrl(url)));
      expect({ dials, reached: canary.connections }).toEqual({ dials: [], reached: [] });
    });
  }

  for (const address of HOSTILE_ADDRESSES) {
    test(`${address}, as a literal and as a DNS response`, async () => {
      for (const scheme of ['http', 'https']) {
        const literal = `${scheme}://${bracketed(address)}:${canary.port}/`;
        expect(REFUSALS).toContain(await refusal(send(build(), literal)));
        expect(REFUSALS).toContain(await refusal(build().checkUrl(literal)));
      }
      for (const answers of [[address], ['8.8.8.8', address], [address, '2606:4700:4700::1111']]) {
        const egress = build({ resolve: answerWith(...answers) });
        const url = `https://hooks.example:${canary.port}/`;
        expect(await refusal(send(egress, url))).toBe('refused_address');
        expect(await refusal(egress.checkUrl(url))).toBe('refused_address');
      }
      expect({ dials, reached: canary.connections }).toEqual({ dials: [], reached: [] });
    });
  }

  for (const answer of HOSTILE_ANSWERS) {
    test(`the DNS response ${JSON.stringify(answer)}`, async () => {
      const egress = build({ resolve: answerWith(answer), allow: ['127.0.0.0/8', '::/0'] });
      expect(await refusal(send(egress, `https://hooks.example:${canary.port}/`))).toBe('refused_address');
      expect({ dials, reached: canary.connections }).toEqual({ dials: [], reached: [] });
    });
  }

  test("localhost, independently of the system's resolution", async () => {
    const { resolveWithSystem } = await import('../../../core/platform/lib/egress/egress.ts');
    const egress = build({ resolve: resolveWithSystem });
    expect(await refusal(send(egress, `https://localhost:${canary.port}/`))).toBe('refused_address');
    expect({ dials, reached: canary.connections }).toEqual({ dials: [], reached: [] });
  });
});

describe('public addresses', () => {
  for (const address of PUBLIC_ADDRESSES) {
    test(`${address} passes the check, over https only`, async () => {
      const egress = build({ resolve: answerWith(address) });
      await egress.checkUrl('https://hooks.example/');
      await egress.checkUrl(`https://${bracketed(address)}/`);
      expect(await refusal(egress.checkUrl('http://hooks.example/'))).toBe('bad_url');
      expect(await refusal(egress.checkUrl(`http://${bracketed(address)}/`))).toBe('bad_url');
      expect(dials).toEqual([]);
    });
  }
});

describe('DNS rebinding', () => {
  test('a name is resolved once per request, and the connection goes to the resolved address', async () => {
    let lookups = 0;
    const resolve: EgressOptions['resolve'] = async () => {
      lookups += 1;
      return [{ address: lookups === 1 ? '8.8.8.8' : '127.0.0.1', family: 4 }];
    };
    // The connection ends here, so that no packet leaves the machine; only its destination matters.
    const connect = (address: string, port: number): net.Socket => {
      dials.push(address);
      const socket = connectChecked('127.0.0.1', port === canary.port ? 1 : port);
      return socket;
    };
    const egress = build({ resolve, connect });
    const url = `https://rebind.example:${canary.port}/`;
    expect(await refusal(send(egress, url))).toBe('connect');
    expect({ asked: lookups, dials }).toEqual({ asked: 1, dials: ['8.8.8.8'] });
    expect(await refusal(send(egress, url))).toBe('refused_address');
    expect({ asked: lookups, dials, reached: canary.connections }).toEqual({
      asked: 2,
      dials: ['8.8.8.8'],
      reached: [],
    });
  });

  test('a pooled connection is not reused once its name resolves elsewhere', async () => {
    const receiver = await listen('127.0.0.9', (socket) => void socket.write(OK_ANSWER));
    const answers = ['127.0.0.9', '127.0.0.9', '127.0.0.1', '127.0.0.9'];
    const resolve: EgressOptions['resolve'] = async () => [
      { address: answers.shift() ?? '127.0.0.1', family: 4 },
    ];
    const egress = build({ resolve, allow: ['127.0.0.9/32'] });
    const url = `http://rebind.example:${receiver.port}/`;
    const codes = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      codes.push(
        await send(egress, url).then(
          (response) => response.address,
          (error: EgressError) => error.code,
        ),
      );
    }
    expect(codes).toEqual(['127.0.0.9', '127.0.0.9', 'refused_address', '127.0.0.9']);
    expect(receiver.connections).toHaveLength(1);
    expect(dials).toEqual(['127.0.0.9']);
    await receiver.stop();
  });
});

test('a socket connected to another than the checked address is destroyed before use', async () => {
  let bytes = 0;
  const elsewhere = await listen('127.0.0.1', () => (bytes += 1));
  // Simulates a platform that maps one address to another, such as NAT64 or a patched resolver.
  const socket = connectChecked('127.0.0.1', elsewhere.port);
  Object.defineProperty(socket, 'remoteAddress', { value: '127.0.0.77' });
  const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
  expect(error.message).toBe('connected to 127.0.0.77 instead of 127.0.0.1');
  expect(bytes).toBe(0);
  await elsewhere.stop();
});

describe('redirects', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`a ${status} to the canary is returned and not followed`, async () => {
      const location = `http://127.0.0.1:${canary.port}/`;
      const head = `HTTP/1.1 ${status} Elsewhere\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`;
      const receiver = await listen('127.0.0.1', (socket) => void socket.write(head));
      const response = await send(build({ allow: ['127.0.0.0/8'] }), `http://127.0.0.1:${receiver.port}/`);
      expect(response).toMatchObject({ status, headers: { location } });
      expect(canary.connections).toEqual([]);
      await receiver.stop();
    });
  }
});

describe("the server's own listening port", () => {
  const url = (host: string): string => `http://${host}:${canary.port}/`;
  const ALL = ['0.0.0.0/0', '::/0'];

  for (const host of [
    '127.0.0.1',
    '127.8.8.8',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    'own.example',
  ]) {
    test(`is refused at ${host} even when the allow-list covers it`, async () => {
      const egress = build({ allow: ALL, ownPort: () => canary.port });
      expect(await refusal(send(egress, url(host)))).toBe('refused_address');
      expect(await refusal(egress.checkUrl(url(host)))).toBe('refused_address');
      expect({ dials, reached: canary.connections }).toEqual({ dials: [], reached: [] });
    });
  }

  test('is refused at all other addresses of this machine, including public ones', async () => {
    const localAddresses = (): string[] => ['10.1.2.3', '8.8.4.4', 'fe80::1%eth0', '2606:4700::9'];
    const egress = build({ allow: ALL, ownPort: () => canary.port, localAddresses });
    for (const host of ['10.1.2.3', '8.8.4.4', '[2606:4700::9]', '[::ffff:8.8.4.4]']) {
      expect(await refusal(egress.checkUrl(url(host)))).toBe('refused_address');
    }
    await egress.checkUrl(`http://10.1.2.3:${canary.port === 65_535 ? 1 : canary.port + 1}/`);
  });
});

describe('the allow-list', () => {
  test('allows exactly its entries', async () => {
    const egress = build({ allow: ['10.1.0.0/16', 'fd12::/16'] });
    for (const host of ['10.1.0.1', '10.1.255.255', '[fd12::1]']) await egress.checkUrl(`http://${host}/`);
    for (const host of ['10.0.255.255', '10.2.0.0', '[fd13::1]', '127.0.0.1', '[::ffff:10.1.0.1]']) {
      expect(await refusal(egress.checkUrl(`http://${host}/`))).toBe('refused_address');
    }
  });

  test('allows a metadata service only as a single address', async () => {
    const wide = build({ allow: ['169.254.0.0/16', '0.0.0.0/0', '::/0'] });
    for (const host of [
      '169.254.169.254',
      '168.63.129.16',
      '100.100.100.200',
      '[fd00:ec2::254]',
      '[64:ff9b::a9fe:a9fe]',
    ]) {
      expect(await refusal(wide.checkUrl(`http://${host}/`))).toBe('refused_address');
    }
    await build({ allow: ['169.254.169.254/32'] }).checkUrl('http://169.254.169.254/');
  });

  test('allows plain http only if every resolved address is in it', async () => {
    const inside = build({ allow: ['10.0.0.0/8'], resolve: answerWith('10.0.0.1', '10.0.0.2') });
    await inside.checkUrl('http://receiver:8080/');
    const mixed = build({ allow: ['10.0.0.0/8'], resolve: answerWith('10.0.0.1', '8.8.8.8') });
    expect(await refusal(mixed.checkUrl('http://receiver:8080/'))).toBe('bad_url');
    expect(await refusal(send(mixed, 'http://receiver:8080/'))).toBe('bad_url');
  });

  test('with an invalid CIDR stops the start and names the entry', () => {
    for (const entry of ['10.0.0.1', '10/8', '10.0.0.0/33', 'localhost', '', '::1']) {
      expect(() => build({ allow: [entry] })).toThrow(`"${entry}" is not a CIDR`);
    }
  });
});

test('a refusal does not reveal results of internal DNS, and explains the allow-list', async () => {
  const egress = build({ resolve: answerWith('10.9.8.7') });
  const error = await send(egress, 'https://db.example/').catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(EgressError);
  expect(String(error)).not.toContain('10.9.8.7');
  expect(String(error)).toContain('--egress-allow');
});
