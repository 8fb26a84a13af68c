import { expect, test } from 'bun:test';
import { EgressError } from './error.ts';
import { parseTarget } from './target.ts';

test('plain URLs are parsed unmodified', () => {
  const read = (url: string): unknown[] => {
    const { secure, host, isLiteral, port, path, authority } = parseTarget(url);
    return [secure, host, isLiteral, port, path, authority];
  };
  expect(read('https://hooks.example')).toEqual([true, 'hooks.example', false, 443, '/', 'hooks.example']);
  expect(read('HTTPS://Hooks.Example:8443/a/../b?c=%20#d')).toEqual([
    true,
    'hooks.example',
    false,
    8443,
    '/b?c=%20',
    'hooks.example:8443',
  ]);
  expect(read('https://hooks.example:443/')).toEqual([
    true,
    'hooks.example',
    false,
    443,
    '/',
    'hooks.example',
  ]);
  expect(read('http://receiver_1:80/')).toEqual([false, 'receiver_1', false, 80, '/', 'receiver_1']);
  expect(read('https://xn--bcher-kva.example/')).toEqual([
    true,
    'xn--bcher-kva.example',
    false,
    443,
    '/',
    'xn--bcher-kva.example',
  ]);
  expect(read('https://8.8.8.8/')).toEqual([true, '8.8.8.8', true, 443, '/', '8.8.8.8']);
  expect(read('https://[2001:DB8:0:0::1]:9/')).toEqual([
    true,
    '2001:db8:0:0::1',
    true,
    9,
    '/',
    '[2001:db8::1]:9',
  ]);
});

test('a rejection names the invalid part', () => {
  const refusals: [string, string][] = [
    ['ftp://hooks.example/', 'must start with https://'],
    ['https://user@hooks.example/', 'user name or password'],
    ['https://hooks.example./', 'trailing dot'],
    ['https://hooks.example\\a', 'backslash'],
    ['https://bücher.example/', 'xn--'],
    ['https://0177.0.0.1/', 'octal, hex, decimal or short form'],
    ['https://2130706433/', 'octal, hex, decimal or short form'],
    ['https://::1/', '[brackets]'],
    ['https://[fe80::1%25eth0]/', 'zone id'],
    ['https://hooks.example:0/', 'port outside 1–65535'],
    ['https://-hooks.example/', 'not a DNS name'],
    ['https:///hooks', 'no host'],
    [`https://hooks.example/${'a'.repeat(2048)}`, 'longer than 2048'],
  ];
  for (const [url, words] of refusals) {
    let message = 'it was accepted';
    try {
      parseTarget(url);
    } catch (error) {
      message = error instanceof EgressError && error.code === 'bad_url' ? error.message : String(error);
    }
    expect([url.slice(0, 40), message]).toEqual([url.slice(0, 40), expect.stringContaining(words)]);
  }
});
