// Attacks of group 42: forged requests to a signed route of a plugin. The plugin may run only for the request with a valid signature.
import { createHmac } from 'node:crypto';
import { createExchange } from '../client/exchange.ts';
import { packageAround, type Scene } from './case.ts';
import { gotThrough, blocked, notJudged, type AttackVerdict } from './judge.ts';
import type { Stage } from './stage.ts';

const bodyMax = 1_000;
const names = ['hook', 'other'] as const;
type Name = (typeof names)[number];

interface Opened {
  readonly path: string;
  readonly secret: string;
}

interface OpenedRoutes extends Readonly<Record<Name, Opened>> {
  /** Time of the server, in seconds since 1970. */
  readonly seconds: number;
}

interface ForgedRequest {
  readonly path: string;
  readonly body?: string;
  readonly signature?: string;
  readonly type?: string;
}

interface Forgery {
  readonly name: string;
  /** Status of the response that refuses it. */
  readonly status: number;
  /** Requests in this order; all but the last are valid. */
  send(door: OpenedRoutes): readonly ForgedRequest[];
}

const body = JSON.stringify({ of: 'the suite' });

function signed(secret: string, text: string, seconds: number): string {
  return `v1=${createHmac('sha256', secret).update(`${seconds}.${text}`).digest('hex')},t=${seconds}`;
}

const good = ({ hook, seconds }: OpenedRoutes): ForgedRequest => ({
  path: hook.path,
  signature: signed(hook.secret, body, seconds),
});

const forgeries: readonly Forgery[] = [
  { name: 'not-signed', status: 401, send: ({ hook }) => [{ path: hook.path }] },
  {
    name: 'signed-by-another',
    status: 401,
    send: (door) => [{ ...good(door), signature: signed('whsec_of_another', body, door.seconds) }],
  },
  {
    name: 'signed-with-nothing',
    status: 401,
    send: (door) => [{ ...good(door), signature: signed('', body, door.seconds) }],
  },
  {
    name: 'another-body-signed',
    status: 401,
    send: (door) => [{ ...good(door), body: JSON.stringify({ of: 'another' }) }],
  },
  {
    name: 'signed-long-ago',
    status: 401,
    send: ({ hook, seconds }) => [{ path: hook.path, signature: signed(hook.secret, body, seconds - 600) }],
  },
  { name: 'a-signature-again', status: 401, send: (door) => [good(door), good(door)] },
  {
    name: 'a-longer-body',
    status: 413,
    send: ({ hook, seconds }) => {
      const long = 'x'.repeat(bodyMax + 1);
      return [{ path: hook.path, body: long, signature: signed(hook.secret, long, seconds) }];
    },
  },
  {
    name: 'another-type',
    status: 415,
    send: (door) => [{ ...good(door), type: 'multipart/form-data; boundary=a' }],
  },
  {
    name: 'the-secret-of-another',
    status: 401,
    send: (door) => [{ ...good(door), signature: signed(door.other.secret, body, door.seconds) }],
  },
  {
    name: 'the-address-of-another',
    status: 404,
    send: (door) => [{ ...good(door), path: door.hook.path.replace(/hook$/, 'other') }],
  },
];

async function open(stage: Stage, title: string): Promise<{ plugin: string; door: OpenedRoutes }> {
  const code = `const handle = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' });
export default { routes: { hook: { handle }, other: { handle } } };`;
  const facts = { method: 'POST', auth: 'hmac', maxBody: bodyMax, why: 'an attack of the suite' } as const;
  const plugin = await stage.install(
    packageAround(code, {
      id: `tatami.attack-${title}`,
      name: `attack: ${title}`,
      routes: { hook: facts, other: facts },
      handlers: names.map((name) => `route:${name}`),
    }),
  );
  const opened = async (name: Name): Promise<Opened> => {
    const path = `/plugins/${plugin}/routes/${name}/open`;
    const { url, secret } = await stage.call<{ url: string; secret: string }>('POST', path);
    // Relative to the given address of the server, which may differ from its base URL.
    return { path: url.slice(url.lastIndexOf('/hooks/')), secret };
  };
  const [hook, other] = [await opened('hook'), await opened('other')];
  const { data } = await stage.call<{ data: { openedAt: string }[] }>('GET', `/plugins/${plugin}/routes`);
  return { plugin, door: { hook, other, seconds: Math.floor(Date.parse(data[0]!.openedAt) / 1000) } };
}

async function play(stage: Stage, { name, status: refusal, send }: Forgery): Promise<AttackVerdict> {
  const { plugin, door } = await open(stage, name);
  const all = send(door);
  const exchange = createExchange(stage);
  let last = 0;
  for (const { path, signature, type = 'application/json', body: text = body } of all) {
    const headers = new Headers({ 'content-type': type });
    if (signature !== undefined) headers.set('x-webhook-signature', signature);
    const answer = await exchange({ method: 'POST', path, headers, body: text });
    last = 'failure' in answer ? answer.failure.status : 200;
  }
  const runs = await stage.runs([plugin], () => true);
  if (runs.length >= all.length) return gotThrough('the plugin ran for the forged request');
  if (runs.length < all.length - 1) return notJudged('the signed request did not run either');
  return last === refusal ? blocked(`answered ${last}`) : notJudged(`answered ${last}, not ${refusal}`);
}

export const forgedCalls: readonly Scene[] = forgeries.map((forgery) => ({
  group: 42,
  name: forgery.name,
  play: (stage) => play(stage, forgery),
}));
