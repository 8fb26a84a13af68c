// A real receiver on loopback, and a separate workspace with the helpers of webhook tests.
import { afterAll } from 'bun:test';
import { startApp, type Client, type Json, type TestApp, type TestAppOptions } from '../../app.ts';

export interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  /** The parsed body. */
  readonly event: Json;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Response of the receiver from now on; 200 by default. */
  answer: (request: Received) => Response | Promise<Response>;
  /** Resolves once `count` requests have arrived. */
  arrived(count: number): Promise<void>;
  stop(): Promise<void>;
}

export function startReceiver(): Receiver {
  const received: Received[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text();
      const { pathname: path } = new URL(request.url);
      const one = { path, headers: request.headers, body, event: JSON.parse(body) };
      received.push(one);
      const due = waiting.filter(({ count }) => received.length >= count);
      waiting = waiting.filter((wait) => !due.includes(wait));
      for (const { resolve } of due) resolve();
      return receiver.answer(one);
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}/hooks`,
    received,
    answer: () => new Response('thanks'),
    arrived: (count) =>
      received.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.push({ count, resolve })),
    stop: () => server.stop(true),
  };
  return receiver;
}

export interface Hooks {
  readonly app: TestApp;
  readonly call: Client;
  register(url: string, more?: object): Promise<Json>;
  /** Creates an issue. */
  file(title: string, more?: object): Promise<Json>;
  deliveries(endpoint: Json, query?: string): Promise<Json[]>;
  delivery(id: string): Promise<Json>;
}

/** Starts an app that allows loopback receivers. */
export async function startHooks(options: TestAppOptions = {}): Promise<Hooks> {
  return hooksOf(await startApp({ ...options, flags: { egressAllow: '127.0.0.0/8', ...options.flags } }));
}

/** Starts an app and a receiver for the tests of one file. */
export async function hooksOfFile(): Promise<{ readonly hooks: Hooks; readonly receiver: Receiver }> {
  const receiver = startReceiver();
  const hooks = await startHooks();
  afterAll(async () => {
    await hooks.app.stop();
    await receiver.stop();
  });
  return { hooks, receiver };
}

export function hooksOf(app: TestApp): Hooks {
  const must = async (...request: Parameters<Client>): Promise<Json> => {
    const { status, json, text } = await app.call(...request);
    if (status >= 300) throw new Error(`${request[0]} ${request[1]} answered ${status}: ${text}`);
    return json;
  };
  return {
    app,
    call: app.call,
    register: (url, more = {}) => must('POST', '/api/v1/webhooks', { url, events: ['issue.*'], ...more }),
    file: (title, more = {}) => must('POST', '/api/v1/issues', { team: 'ENG', title, ...more }),
    deliveries: async (endpoint, query = '') =>
      (await must('GET', `/api/v1/webhooks/${endpoint.id}/deliveries?limit=100${query}`)).data,
    delivery: (id) => must('GET', `/api/v1/deliveries/${id}`),
  };
}
