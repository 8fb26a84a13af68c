// Every response is in the document (docs/spec/api.md › OpenAPI document): random valid and invalid requests cause no 5xx,
// success bodies match their schema, and errors have the envelope and a registered code.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Route } from '../../core/kernel/http/route.ts';
import { isOperation } from '../../core/kernel/http/openapi/operation.ts';
import { errorCodes } from '../../core/platform/lib/errors/errors.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { arbitraryOf, hostileValues, shared, sometimesBroken } from './arbitrary.ts';
import { exampleOf, fillPath, nowhere, seed, type Seeds } from './seeds.ts';

const randomSeed = Number(process.env.FUZZ_SEED ?? 20261120);
const long = process.env.TATAMI_LONG !== undefined;
let app: TestApp;
let own: Seeds;
let document: Json;
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
const hookUrl = `http://127.0.0.1:${receiver.port}/`;

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  document = (await app.call('GET', '/api/v1/openapi.json')).json;
  own = await seed(app, app.call, 'ENG', hookUrl);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

const propertiesOf = (schema: TSchema | undefined): string[] =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

type Ask = (ids: Seeds, query: unknown, body: unknown) => Promise<string | null>;

const compiled = new Map<TSchema, ReturnType<typeof Compile>>();
/** Compiles each schema on first use and once: compiling all of them costs as much as several hundred requests. */
function errorsIn(schema: TSchema, json: Json): object[] {
  if (!compiled.has(schema)) compiled.set(schema, Compile(schema));
  return compiled.get(schema)!.Errors(json);
}

/** Sends the request and returns the flaw of the response, or null. */
function askOf(route: Route): Ask {
  const success = new Map(
    Object.entries(route.responses).map(([status, schema]) => [Number(status), schema]),
  );
  return async (ids, query, body) => {
    const search = new URLSearchParams(
      Object.entries(Object(query) as object).map(([name, value]): [string, string] => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    );
    const path = `${fillPath(route.path, route.params, ids)}?${search}`;
    const { status, json, text, headers } = await app.call(route.method, path, body);
    const fault = (what: string): string =>
      `${route.method} ${path} ${JSON.stringify(body) ?? ''}: ${status} ${what}`.slice(0, 600);
    if (status >= 500) return fault(text);
    if (!headers.has('x-request-id')) return fault('without a request id');
    // OAuth endpoints have the error format of their RFC.
    if (status >= 400 && typeof json?.error === 'string' && route.path.startsWith('/oauth/')) return null;
    if (status >= 400 && json?.jsonrpc === '2.0' && route.path.startsWith('/api/mcp/')) return null;
    // A plugin's page has its own text, also for errors.
    if (route.kind === 'inbound' && json === null) return null;
    if (status >= 400) {
      const known = errorCodes[json?.error?.code as keyof typeof errorCodes];
      if (known?.status !== status) return fault(`with the code ${json?.error?.code}`);
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      if (isOperation(route) && !(status in operation.responses)) return fault('is not in the document');
      return Array.isArray(json.error.details) ? null : fault('without details');
    }
    if (!success.has(status)) return fault('is not in the document');
    const schema = success.get(status);
    const errors = json === null || !schema ? [] : errorsIn(schema, json);
    return errors.length === 0 ? null : fault(`does not match the schema: ${JSON.stringify(errors)}`);
  };
}

test('a hostile value in any parameter or property is accepted or refused, and never causes a fault', async () => {
  const faults: string[] = [];
  const values = shared(hostileValues, 4);
  for (const route of app.app.routes) {
    const ask = askOf(route);
    const example = exampleOf(route, hookUrl);
    const note = async (query: unknown, body: unknown): Promise<void> => {
      const fault = await ask(own, query, body);
      if (fault !== null) faults.push(fault);
    };
    for (const name of propertiesOf(route.query))
      for (const value of values()) await note({ [name]: value }, example);
    for (const name of propertiesOf(route.body))
      for (const value of values()) await note({}, { ...example, [name]: value });
  }
  expect(faults).toEqual([]);
}, 120_000);

test(
  'random valid and invalid requests never cause a fault or a response outside its schema',
  async () => {
    const faults: string[] = [];
    for (const route of app.app.routes) {
      const ask = askOf(route);
      const ids = [own, nowhere];
      const body = route.body ? sometimesBroken(arbitraryOf(route.body, ids)) : fc.constant(undefined);
      const query = sometimesBroken(route.query ? arbitraryOf(route.query, ids) : fc.constant({}));
      const property = fc.asyncProperty(
        fc.constantFrom(own, own, own, nowhere),
        query,
        body,
        async (...request) => {
          const fault = await ask(...request);
          if (fault !== null) throw new Error(fault);
        },
      );
      const { errorInstance } = await fc.check(property, { seed: randomSeed, numRuns: long ? 2000 : 3 });
      if (errorInstance !== null) faults.push(String(errorInstance));
    }
    expect(faults).toEqual([]);
  },
  long ? 1_800_000 : 60_000,
);
