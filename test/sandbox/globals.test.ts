// The web globals of plugins, compared with those of the platform.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { SandboxJob, SandboxOutcome } from '../../core/platform/sandbox/supervisor.ts';
import { jobOf, openSandbox, pluginOf, runToEnd } from './harness.ts';
import type { TestSandbox } from './harness.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await openSandbox();
});

afterAll(() => sandbox.stop());

let installs = 0;

async function runBody(body: string, more: Partial<SandboxJob> = {}): Promise<SandboxOutcome> {
  return runToEnd(sandbox, jobOf(`ins_${installs++}`, await pluginOf(body), more));
}

/** Value of the expression as the guest logged it, as JSON. */
async function evaluate(expression: string): Promise<unknown> {
  const outcome = await runBody(`ctx.log.info(JSON.stringify(await (${expression})));`);
  expect(outcome).toMatchObject({ status: 'succeeded' });
  return JSON.parse(outcome.logs[0]?.message ?? 'null');
}

describe('globals', () => {
  test('the clock starts at the run’s start and advances with host calls', async () => {
    const outcome = await runBody(
      `const a = Date.now(); for (let i = 0; i < 10_000; i++); const b = new Date().getTime(); await ctx.sleep(50); ctx.log.info(a, b, ctx.now() - a >= 50, new Date(0).toISOString(), typeof Date());`,
    );
    expect(outcome.logs[0]?.message).toBe('1790000000000 1790000000000 true 1970-01-01T00:00:00.000Z string');
  });

  test('random numbers follow the seed', async () => {
    const body =
      'ctx.log.info(Math.random(), ctx.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))]);';
    const input = (seed: string): string =>
      JSON.stringify({ event: {}, run: {}, settings: {}, nowMs: 0, seed });
    const draw = async (seed: string): Promise<string | undefined> =>
      (await runBody(body, { input: input(seed) })).logs[0]?.message;
    const first = await draw('one');
    expect(first).toMatch(
      /^0\.\d+ 0\.\d+ [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12} \[/,
    );
    expect(await draw('one')).toBe(first as string);
    expect(await draw('two')).not.toBe(first as string);
  });

  test('timers fire in order and can be cleared', async () => {
    const body = `const seen = []; setTimeout((x) => seen.push(x), 20, 'b'); setTimeout(() => seen.push('a'), 1); const c = setTimeout(() => seen.push('c'), 5);
      clearTimeout(c); const i = setInterval(() => { seen.push('i'); if (seen.filter((s) => s === 'i').length === 2) clearInterval(i); }, 3); while (seen.length < 4) await ctx.sleep(20); await ctx.sleep(20); ctx.log.info(seen.filter((s) => s !== 'i').join(''), seen.filter((s) => s === 'i').length);`;
    expect((await runBody(body)).logs[0]?.message).toBe('ab 2');
  });

  test('a fetch is one host call, and its result behaves like a Response', async () => {
    const hostCalls: unknown[] = [];
    const call: SandboxJob['call'] = async (op, args) => {
      hostCalls.push([op, JSON.parse(args)]);
      const headers = [['content-type', 'application/json']];
      return { ok: true, value: JSON.stringify({ status: 201, headers, body: '{"a":[1]}' }) };
    };
    const body = `
      const headers = new Headers([['X-One', '1']]);
      const made = await fetch(new URL('https://h.example/p?q=1'), { method: 'post', headers, body: '{}' });
      const form = await ctx.fetch('https://h.example/', { method: 'PUT', body: new URLSearchParams({ a: 'ü b' }) });
      const wrong = await fetch('https://h.example/', { body: '' }).catch((e) => e.name);
      ctx.log.info(JSON.stringify([made.status, made.ok, made.url, made.headers.get('Content-Type'), await made.json(), await form.text(), wrong]));`;
    const outcome = await runBody(body, { call });
    expect(outcome.logs[0]?.message).toBe(
      JSON.stringify([
        ...[201, true, 'https://h.example/p?q=1', 'application/json', { a: [1] }],
        ...['{"a":[1]}', 'TypeError'],
      ]),
    );
    expect(hostCalls).toEqual([
      [
        'net.fetch',
        [
          {
            url: 'https://h.example/p?q=1',
            method: 'POST',
            headers: { 'content-type': 'text/plain;charset=UTF-8', 'x-one': '1' },
            body: '{}',
          },
        ],
      ],
      [
        'net.fetch',
        [
          {
            url: 'https://h.example/',
            method: 'PUT',
            headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
            body: 'a=%C3%BC+b',
          },
        ],
      ],
    ]);
  });

  test('a signal aborts a fetch before the start, in progress, and by timeout', async () => {
    const call: SandboxJob['call'] = async () => {
      await Bun.sleep(30);
      return { ok: true, value: '{"status":200,"headers":[],"body":""}' };
    };
    const body = `
      const name = (e) => e.name;
      const controller = new AbortController();
      const going = fetch('https://h.example/', { signal: controller.signal }).then(() => 'answered', name);
      controller.abort();
      const late = fetch('https://h.example/', { signal: AbortSignal.timeout(1) }).then(() => 'answered', name);
      const any = AbortSignal.any([new AbortController().signal, AbortSignal.abort('why')]);
      ctx.log.info(JSON.stringify([await going, await late, await fetch('https://h.example/', { signal: any }).catch((e) => e),
        controller.signal.aborted, await fetch('https://h.example/').then((r) => r.status)]));`;
    expect((await runBody(body, { call })).logs[0]?.message).toBe(
      '["AbortError","TimeoutError","why",true,200]',
    );
  });

  test('headers, base64 and clones match the platform', async () => {
    const looks: (() => unknown)[] = [
      () => {
        const headers = new Headers({ B: ' 2 ', a: '1' });
        headers.append('b', '3');
        headers.set('C', 'x');
        headers.delete('c');
        return [[...headers], headers.get('B'), headers.has('c')];
      },
      () =>
        ['bad name', 'a', 'a\r\nb'].map((text) => {
          try {
            return [...new Headers([[text, text]])];
          } catch (error) {
            return (error as Error).name;
          }
        }),
      () => ['', 'a', 'ab', 'abc', 'ÿ\0þ'].map((text) => [btoa(text), atob(btoa(text)) === text]),
      () =>
        ['YQ', ' Y Q = = ', 'YWI=', 'Y', 'Y===', '*', 'YQ=a'].map((text) => {
          try {
            return atob(text);
          } catch (error) {
            return (error as Error).name;
          }
        }),
      () => {
        const one: Record<string, unknown> = {
          d: new Date(5),
          u: undefined,
          m: new Map([[1, new Set(['x'])]]),
        };
        one.self = one;
        const sparse = [1, 2, 3];
        Reflect.deleteProperty(sparse, '1');
        const bytes = new Uint8Array([1, 2]);
        const copy = structuredClone({ one, sparse, bytes, error: new RangeError('no') });
        const { d, m, self } = copy.one as { d: Date; m: Map<number, Set<string>>; self: unknown };
        return [
          ...[self === copy.one, copy.one !== one, d.getTime(), [...(m.get(1) ?? [])], 'u' in copy.one],
          ...[1 in copy.sparse, copy.sparse.length, [...copy.bytes], copy.bytes !== bytes],
          ...[copy.error instanceof RangeError, copy.error.message],
        ];
      },
      () => {
        try {
          return structuredClone({ f() {} });
        } catch (error) {
          return (error as Error).name;
        }
      },
      () => {
        const copy = structuredClone(JSON.parse('{"__proto__":{"x":1}}'));
        return [Object.keys(copy), copy.x === undefined];
      },
    ];
    for (const look of looks)
      expect(await evaluate(`(${look.toString()})()`)).toEqual(JSON.parse(JSON.stringify(look())));
  });

  test('the globals that plugin code expects exist', async () => {
    const names =
      'console setTimeout clearTimeout setInterval clearInterval queueMicrotask URL URLSearchParams TextEncoder TextDecoder crypto structuredClone AbortController AbortSignal Headers atob btoa fetch';
    expect(
      await evaluate(`'${names}'.split(' ').filter((name) => typeof globalThis[name] === 'undefined')`),
    ).toEqual([]);
  });

  const urls: [input: string, base?: string][] = [
    ['https://user:p%40ss@Example.COM:443/a/./b/../c%20d?x=1&y=%26#frag'],
    ['http://a.b:8080'],
    ['../x/y?z', 'https://h.example/a/b/c?q#f'],
    ['?only=query', 'https://h.example/a/b?q#f'],
    ['#hash', 'https://h.example/a?q'],
    ['//other.example/p', 'https://h.example/a'],
    ['/root', 'https://h.example/a/b'],
    ['mailto:someone@example.com'],
    ['https://h.example/ü ö?ä=ß'],
    ['http://[::1]:3000/x'],
    ['https:\\\\h.example\\a'],
    ['http://127.0.0.1/'],
  ];
  test('URL parses like the platform’s URL', async () => {
    const parts = [
      'href',
      'protocol',
      'username',
      'password',
      'host',
      'hostname',
      'port',
      'pathname',
      'search',
      'hash',
      'origin',
    ];
    const read = `(([i, b]) => { const u = new URL(i, b); return ${JSON.stringify(parts)}.map((p) => u[p]); })`;
    const guest = await evaluate(`${JSON.stringify(urls)}.map(([i, b]) => ${read}([i, b ?? undefined]))`);
    const host = urls.map(([input, base]) => {
      const url = new URL(input, base);
      return parts.map((part) => Reflect.get(url, part) as string);
    });
    expect(guest).toEqual(host);
    expect(
      await evaluate(
        `['', 'relative', 'http://', 'http://a b/', 'http://x:99999/', 'http://0x7f.1/', 'http://ünï.example/'].map((u) => URL.canParse(u))`,
      ),
    ).toEqual(Array(7).fill(false));
  });

  test('URLSearchParams and the text codecs match the platform', async () => {
    const text = `a=1&b=%C3%BC+x&a=2&c`;
    expect(
      await evaluate(
        `(() => { const p = new URLSearchParams('${text}'); p.append('d', 'é &'); return [p.get('b'), p.getAll('a'), p.has('c'), p.toString()]; })()`,
      ),
    ).toEqual(['ü x', ['1', '2'], true, 'a=1&b=%C3%BC+x&a=2&c=&d=%C3%A9+%26']);
    const samples = ['plain', 'ü€😀', '\ud800 lone'];
    expect(await evaluate(`${JSON.stringify(samples)}.map((s) => [...new TextEncoder().encode(s)])`)).toEqual(
      samples.map((s) => [...new TextEncoder().encode(s)]),
    );
    const bytes = [
      [0xef, 0xbb, 0xbf, 0x41],
      [0xf0, 0x9f, 0x98, 0x80],
      [0xc0, 0x80],
      [0xe2, 0x82],
      [0xf5, 0x41],
      [0xed, 0xa0, 0x80],
    ];
    expect(
      await evaluate(`${JSON.stringify(bytes)}.map((b) => new TextDecoder().decode(new Uint8Array(b)))`),
    ).toEqual(bytes.map((b) => new TextDecoder().decode(new Uint8Array(b))));
  });
});
