// A plugin that sends the requests contained in an issue, and real receivers for them.
import { afterAll, beforeAll, expect } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Resolve } from '../../../core/platform/lib/egress/egress.ts';
import { createClock, startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

/** Contains every character that has several encodings. */
export const secret = 'sk_live_+Zq/7$&=secret value';

interface OutboundRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** `$REF` in it stands for the placeholder of the secret. */
export type FetchArguments = readonly [url: string, init?: object];

/** @param more members of the manifest */
export const definitionOf = (more: string): string => `{
  id: 'test.outside', version: '1.0.0', engines: { tatami: '*' },
  scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
  ${more}
  on: { 'issue.created': { handle: async (event, ctx) => {
    const { requests, fails } = JSON.parse(event.data.description);
    const ref = ctx.secrets.has('ACME_KEY') ? ctx.secrets.ref('ACME_KEY') : 'unset';
    const ask = async ([url, init]) => {
      const [to, given] = JSON.parse(JSON.stringify([url, init ?? {}]).replaceAll('$REF', ref));
      try {
        const response = await ctx.fetch(to, given);
        return { status: response.status, headers: [...response.headers], body: await response.text() };
      } catch (error) {
        return { code: error.code ?? error.name, message: error.message };
      }
    };
    const results = [];
    for (const request of requests) results.push(await ask(request));
    console.log(JSON.stringify(results).slice(0, 2000));
    await ctx.kv.set(event.data.id, results);
    if (results.length > 0 && results[0].body) await ctx.comments.create(event.data.id, { body: results[0].body.slice(0, 1000) });
    if (fails && ctx.run.attempt <= fails) throw new Error(JSON.stringify(results).slice(0, 500));
  } } },
}`;

const declared = (origin: string): string => `
  net: [
    { origin: '${origin}', methods: ['GET', 'POST'], path: '/v1/', why: 'test' },
    { origin: '${origin}', methods: ['POST'], path: '/once', why: 'test', retry: 'never' },
    { origin: 'https://rebind.example', why: 'test' },
  ],
  secrets: { ACME_KEY: { hosts: ['${origin}'], header: 'Authorization', format: 'Bearer {}' } },`;

export interface Outside {
  app: TestApp;
  /** The requesting plugin, with `definitionOf` of the receiver. */
  plugin: Json;
  /** Receiver that the manifest declares. */
  readonly origin: string;
  /** Receiver that the manifest does not declare. */
  readonly other: string;
  /** Requests that both receivers got. */
  readonly seen: OutboundRequest[];
  /** Responses by path; by default 200 with the request. */
  readonly answers: Record<string, (one: OutboundRequest) => Response | Promise<Response>>;
  /** Address to which every name resolves. */
  resolved: string;
  readonly resolve: Resolve;
  readonly definition: string;
  file(requests: readonly FetchArguments[], more?: object): Promise<Json>;
  /** Responses that the plugin got, in request order. */
  ask(requests: readonly FetchArguments[]): Promise<Json[]>;
  /** Results that the plugin stored for an issue's requests. */
  storedResult(issue: Json): Promise<Json>;
  latestRun(): Promise<Json>;
}

/** Server flags of these tests. */
export const flags = { egressAllow: '127.0.0.1/32' };

export const codesOf = (answers: readonly Json[]): unknown[] =>
  answers.map(({ code, status }) => code ?? status);

/** Starts and stops everything for the tests of one file. */
export function outsideOfFile(): Outside {
  const dataDir = mkdtempSync(join(tmpdir(), 'tatami-outside-'));
  const seen: OutboundRequest[] = [];
  const answers: Outside['answers'] = {};
  const receive = async (request: Request): Promise<Response> => {
    const { method, headers } = request;
    const one = { method, path: new URL(request.url).pathname, headers, body: await request.text() };
    seen.push(one);
    const authorization = headers.get('authorization') ?? '';
    const echo = [authorization, encodeURIComponent(authorization), btoa(`x${authorization}`)];
    const body = [...echo, JSON.stringify({ authorization }), one.body].join(' ');
    return answers[one.path]?.(one) ?? new Response(body, { headers: { 'x-echo': authorization } });
  };
  const servers = [0, 1].map(() =>
    Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: receive }),
  );
  const [origin, other] = servers.map(({ port }) => `http://127.0.0.1:${port}`) as [string, string];
  const outside: Outside = {
    // Assigned in `beforeAll`.
    app: undefined as never,
    plugin: undefined,
    ...{ origin, other, seen, answers, resolved: '8.8.8.8', definition: definitionOf(declared(origin)) },
    resolve: async () => [{ address: outside.resolved, family: 4 }],
    async file(requests, more = {}) {
      const description = JSON.stringify({ requests, ...more });
      const body = { team: 'ENG', title: 'ask', description };
      const { status, json } = await outside.app.call('POST', '/api/v1/issues', body);
      expect(status).toBe(201);
      await outside.app.settled();
      return json;
    },
    ask: async (requests) => outside.storedResult(await outside.file(requests)),
    async storedResult({ id }) {
      return (await outside.app.call('GET', `/api/v1/plugins/${outside.plugin.id}/kv/${id}`)).json?.value;
    },
    async latestRun() {
      const { call } = outside.app;
      const { data } = (await call('GET', `/api/v1/plugins/${outside.plugin.id}/runs?limit=1`)).json;
      return (await call('GET', `/api/v1/runs/${data[0].id}`)).json;
    },
  };
  beforeAll(async () => {
    outside.app = await startApp({
      flags,
      clock: createClock(),
      dataDir,
      resolve: outside.resolve,
    });
    outside.plugin = await install(outside.app.call, await packSource(outside.definition));
  });
  afterAll(async () => {
    await outside.app.stop();
    rmSync(dataDir, { recursive: true, force: true });
    for (const server of servers) await server.stop(true);
  });
  return outside;
}
