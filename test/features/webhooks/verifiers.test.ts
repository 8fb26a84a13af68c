// Unmodified third-party verifiers accept deliveries of a running server, also during a rotation; our verifier needs
// only Web Crypto in every runtime.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verify } from '@tatami/sdk/webhooks';
import { Webhook } from 'standardwebhooks';
import { createSystemClock } from '../../app.ts';
import { temporary } from '../../cli/tatami.ts';
import { startHooks, startReceiver, type Hooks, type Received, type Receiver } from './receiver.ts';
import { stripeVerifier } from './stripe.ts';

const root = join(import.meta.dir, '../../..');
const node = join(root, 'node_modules/.bin/node');
const stripe = await stripeVerifier();
const dir = temporary();
let hooks: Hooks;
let receiver: Receiver;
let secrets: { old: string; new: string };
/** Before, during and after the overlap of a rotation. */
let deliveries: { before: Received; during: Received; after: Received };

// Third-party verifiers read the real clock, so that the server needs the real time.
beforeAll(async () => {
  receiver = startReceiver();
  hooks = await startHooks({ clock: createSystemClock() });
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
  const deliverOne = async (title: string): Promise<Received> => {
    await hooks.file(title);
    await hooks.app.settled();
    return receiver.received.at(-1)!;
  };
  const rotate = async (overlapHours: number): Promise<string> =>
    (await hooks.call('POST', `/api/v1/webhooks/${endpoint.id}/rotate`, { overlapHours })).json.secret;
  const before = await deliverOne('Über – 日本 🚂');
  const second = await rotate(24);
  secrets = { old: endpoint.secret, new: second };
  const during = await deliverOne('Two sign this one');
  await rotate(0);
  deliveries = { before, during, after: await deliverOne('Neither signs this one') };
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
  dir[Symbol.dispose]();
});

const accepted = (work: () => unknown): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

describe.each(['stripe', 'standardwebhooks'])('the unmodified %s package', (name) => {
  const takes = ({ headers, body }: Received, secret: string): boolean =>
    accepted(() =>
      name === 'stripe'
        ? stripe.constructEvent(body, headers.get('x-webhook-signature')!, secret, 300, undefined, Date.now())
        : new Webhook(secret).verify(body, Object.fromEntries(headers)),
    );

  test('accepts the secret that signed, both secrets during an overlap, and no other', () => {
    const { before, during, after } = deliveries;
    const results = [before, during, after].map((one) => [takes(one, secrets.old), takes(one, secrets.new)]);
    expect(results).toEqual([
      [true, false],
      [true, true],
      [false, false],
    ]);
  });

  test('refuses an altered body', () => {
    const { during } = deliveries;
    expect(takes({ ...during, body: during.body.replace('Two', 'One') }, secrets.new)).toBe(false);
  });
});

/** Runs in Node: prints the outcome of `verify`, as global or imported, for each case. */
const script = (load: string): string => `
  const cases = JSON.parse(await new Response(process.stdin).text());
  const verify = await (async () => { ${load} })();
  const outcomes = [];
  for (const { body, header, secret } of cases)
    outcomes.push(await verify(body, header, secret).then((event) => event.id, (error) => error.code ?? error.name));
  console.log(JSON.stringify({ node: process.versions.bun === undefined, outcomes }));`;

async function outcomesIn(load: string): Promise<unknown> {
  const { before, during } = deliveries;
  const cases = [
    { one: before, secret: secrets.old },
    { one: during, secret: secrets.old },
    { one: during, secret: [secrets.new, secrets.old] },
    { one: before, secret: secrets.new },
    { one: { ...during, body: `${during.body} ` }, secret: secrets.new },
    { one: before, secret: '' },
  ].map(({ one, secret }) => ({ body: one.body, header: one.headers.get('x-webhook-signature'), secret }));
  const child = Bun.spawn([node, '--input-type=module', '-e', script(load)], {
    stdin: new Blob([JSON.stringify(cases)]),
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (out === '') throw new Error(err);
  return JSON.parse(out);
}

const expected = () => ({
  node: true,
  outcomes: [
    deliveries.before.event.id,
    deliveries.during.event.id,
    deliveries.during.event.id,
    'signature_mismatch',
    'signature_mismatch',
    'TypeError',
  ],
});
const entry = join(root, 'sdk/webhooks/index.ts');

describe('the SDK', () => {
  test('gives the same results in Bun', async () => {
    const { before, during, after } = deliveries;
    const header = (one: Received): string => one.headers.get('x-webhook-signature')!;
    expect(await verify(before.body, header(before), secrets.old)).toEqual(before.event);
    for (const secret of [secrets.old, secrets.new])
      expect((await verify(during.body, header(during), secret)).id).toBe(during.event.id);
    await expect(verify(after.body, header(after), [secrets.old, secrets.new])).rejects.toMatchObject({
      code: 'signature_mismatch',
    });
  });

  test('gives the same results in Node without a build', async () => {
    expect(await outcomesIn(`return (await import(${JSON.stringify(entry)})).verify;`)).toEqual(expected());
  });

  test('gives the same results with worker globals only: one bundle, Web Crypto and text coding', async () => {
    writeFileSync(
      dir.path('worker.ts'),
      `import { verify } from ${JSON.stringify(entry)}; globalThis.verify = verify;`,
    );
    const { outputs, success } = await Bun.build({
      entrypoints: [dir.path('worker.ts')],
      format: 'iife',
      target: 'browser',
    });
    expect([success, outputs.length]).toEqual([true, 1]);
    const bundle = await outputs[0]!.text();
    expect(bundle).not.toMatch(/node:|\brequire\b|\bprocess\b|\bBuffer\b|\bBun\b/);
    writeFileSync(dir.path('worker.js'), bundle);
    const load = `
      const { runInNewContext } = await import('node:vm');
      const { readFileSync } = await import('node:fs');
      const worker = { crypto, TextEncoder, TextDecoder };
      runInNewContext(readFileSync(${JSON.stringify(dir.path('worker.js'))}, 'utf8'), worker);
      return worker.verify;`;
    expect(await outcomesIn(load)).toEqual(expected());
  });
});
