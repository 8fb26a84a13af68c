/** The verifier accepts only recent deliveries signed with one of the secrets, in every available runtime. */
import { describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import path from 'node:path';
import fc from 'fast-check';
import { verify, WebhookVerificationError } from './index.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const OTHER = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
const PAYLOAD = '{"id":"evt_0","type":"webhook.ping","data":{"text":"grüße"}}';
const NOW = 1_700_000_000;
const EVENT = JSON.parse(PAYLOAD);
/** The published vector of PAYLOAD at NOW under SECRET. */
const HEADER = 'v1=e32b1a557a09acdd6ffa19cb71ea8d15d7e5bbff6171448ea91ac982ce229599,t=1700000000';

const hex = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');
const sign = (payload: string, time: number | string = NOW, secret = SECRET): string =>
  `v1=${hex(secret, `${time}.${payload}`)},t=${time}`;

async function outcome(work: Promise<unknown>): Promise<unknown> {
  return await work.catch((error: unknown) => {
    if (error instanceof WebhookVerificationError) return error.code;
    return error instanceof TypeError ? 'TypeError' : Promise.reject(error);
  });
}

const check = (
  header: string,
  payload: string | Uint8Array = PAYLOAD,
  secret: string | string[] = SECRET,
  nowSeconds = NOW,
) => outcome(verify(payload, header, secret, { nowSeconds }));

test('the published vector gives the event, from text and from bytes', async () => {
  expect(await check(HEADER)).toEqual(EVENT);
  expect(await check(HEADER, new TextEncoder().encode(PAYLOAD))).toEqual(EVENT);
  const padded = new TextEncoder().encode(`--${PAYLOAD}--`);
  expect(await check(HEADER, padded.subarray(2, padded.byteLength - 2))).toEqual(EVENT);
});

describe('secrets', () => {
  test('every v1 entry is tried with every secret, in any order of the header', async () => {
    const [mine, theirs] = [hex(SECRET, `${NOW}.${PAYLOAD}`), hex(OTHER, `${NOW}.${PAYLOAD}`)];
    for (const header of [
      `v1=${mine},v1=${theirs},t=${NOW}`,
      `v1=${theirs},v1=${mine},t=${NOW}`,
      `t=${NOW},v1=${theirs},v1=${mine}`,
    ]) {
      for (const secret of [SECRET, OTHER, [SECRET, OTHER], [OTHER, SECRET]])
        expect(await check(header, PAYLOAD, secret)).toEqual(EVENT);
    }
    expect(await check(HEADER, PAYLOAD, [OTHER, SECRET])).toEqual(EVENT);
    expect(await check(HEADER, PAYLOAD, OTHER)).toBe('signature_mismatch');
  });

  test('an unusable secret is an error of the receiver, never an accepted signature', async () => {
    for (const secret of ['', 'whsec_', 'undefined', `${SECRET}\n`, ` ${SECRET}`, [], [SECRET, '']]) {
      expect(
        await check(sign(PAYLOAD, NOW, typeof secret === 'string' ? secret : SECRET), PAYLOAD, secret),
      ).toBe('TypeError');
    }
  });
});

describe('time', () => {
  test('is accepted up to 300 s in both directions, and not a second further', async () => {
    for (const shift of [-300, -1, 0, 1, 300])
      expect(await check(HEADER, PAYLOAD, SECRET, NOW + shift)).toEqual(EVENT);
    expect(await check(HEADER, PAYLOAD, SECRET, NOW + 301)).toBe('timestamp_too_old');
    expect(await check(HEADER, PAYLOAD, SECRET, NOW - 301)).toBe('timestamp_too_new');
  });

  test('uses the given tolerance, and rejects one that would silently disable the check', async () => {
    const late = { nowSeconds: NOW + 10 };
    expect(await outcome(verify(PAYLOAD, HEADER, SECRET, { ...late, toleranceSeconds: 10 }))).toEqual(EVENT);
    expect(await outcome(verify(PAYLOAD, HEADER, SECRET, { ...late, toleranceSeconds: 9 }))).toBe(
      'timestamp_too_old',
    );
    for (const toleranceSeconds of [Number.NaN, -1]) {
      expect(await outcome(verify(PAYLOAD, HEADER, SECRET, { ...late, toleranceSeconds }))).toBe('TypeError');
    }
    expect(await outcome(verify(PAYLOAD, HEADER, SECRET, { nowSeconds: Number.NaN }))).toBe(
      'timestamp_too_old',
    );
  });

  test('is the real clock by default', async () => {
    expect(await outcome(verify(PAYLOAD, HEADER, SECRET))).toBe('timestamp_too_old');
    expect(await outcome(verify(PAYLOAD, sign(PAYLOAD, Math.floor(Date.now() / 1000)), SECRET))).toEqual(
      EVENT,
    );
  });
});

describe('tampering', () => {
  test('with any byte of the body, the time or the signature is detected', async () => {
    const bytes = new TextEncoder().encode(PAYLOAD);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: bytes.byteLength - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const altered = Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ flip : byte));
          expect(await check(HEADER, altered)).toBe('signature_mismatch');
        },
      ),
      { seed: 20_263, numRuns: 200 },
    );
    expect(await check(HEADER, `${PAYLOAD} `)).toBe('signature_mismatch');
    expect(await check(HEADER.replace(`t=${NOW}`, `t=${NOW + 1}`))).toBe('signature_mismatch');
    expect(await check(HEADER.replace(/v1=./, (start) => (start === 'v1=0' ? 'v1=1' : 'v1=0')))).toBe(
      'signature_mismatch',
    );
  });

  test('with the boundary between time and body is detected', async () => {
    expect(await check(`${sign('5.{}', 17).replace('t=17', 't=1')}`, '7.5.{}')).toBe('signature_mismatch');
  });
});

test('a header in another format is rejected', async () => {
  const good = hex(SECRET, `${NOW}.${PAYLOAD}`);
  const headers = [
    '',
    't=',
    'v1=',
    ',',
    `t=${NOW}`,
    `v1=${good}`,
    `v1=${good},t=`,
    `v1=${good},t=abc`,
    `v1=${good},t=-1`,
    `v1=${good},t=${NOW}.0`,
    `v1=${good},t=1e9`,
    `v1=${good},t=${NOW},t=${NOW}`,
    `v1=${good.toUpperCase()},t=${NOW}`,
    `v1=${good.slice(1)},t=${NOW}`,
    `v1=${good}0,t=${NOW}`,
    `v0=${good},t=${NOW}`,
    `v1:${good};t:${NOW}`,
    `v1=${good}, t=${NOW}`,
    `${Array(9).fill(`v1=${good}`).join(',')},t=${NOW}`,
    `v1=${good},t=${NOW},x=${'a'.repeat(3_000)}`,
  ];
  for (const header of headers)
    expect([header.slice(0, 40), await check(header)]).toEqual([header.slice(0, 40), 'malformed_header']);
  expect(await check(`v1=${good},v2=later,t=${NOW}`)).toEqual(EVENT);
});

test('an authentic body that is no event is rejected', async () => {
  for (const body of [
    '',
    'null',
    '[]',
    '"evt"',
    '{"id":"evt_0"}',
    '{"id":1,"type":"a","data":{}}',
    '{"id":"evt_0","type":"a","data":null}',
    '{',
  ]) {
    expect(await check(sign(body), body)).toBe('malformed_payload');
  }
  const latin = Uint8Array.of(0x22, 0xfc, 0x22);
  const signature = createHmac('sha256', SECRET).update(`${NOW}.`).update(latin).digest('hex');
  expect(await check(`v1=${signature},t=${NOW}`, latin)).toBe('malformed_payload');
});

test('runs unbuilt under Node 24', async () => {
  const node = path.join(import.meta.dir, '../../node_modules/.bin/node');
  const script = `
    import { verify } from ${JSON.stringify(path.join(import.meta.dir, 'index.ts'))};
    const [payload, header, secret] = ${JSON.stringify([PAYLOAD, HEADER, SECRET])};
    const event = await verify(payload, header, secret, { nowSeconds: ${NOW} });
    const refused = await verify(payload + ' ', header, secret, { nowSeconds: ${NOW} }).catch((error) => error.code);
    console.log(JSON.stringify([process.versions.bun === undefined, event.id, refused]));`;
  const child = Bun.spawn([node, '--input-type=module', '-e', script], { stderr: 'pipe' });
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual([true, 'evt_0', 'signature_mismatch']);
});
