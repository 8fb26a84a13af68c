// The client has a method for every operation in the document, and the routes accept every input that its
// types allow.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientRoutes } from '../../build/generate/client-routes.ts';
import { compileCheck, compileQuery } from '../../core/kernel/http/request/validate.ts';
import { textsOf } from '../../core/kernel/http/values.ts';
import { operations } from '../../sdk/generated/table.ts';
import { startApp, type TestApp } from '../app.ts';
import { root } from '../imports.ts';
import { membersOf, namesOf, valuesOf } from './declared.ts';

interface Table {
  readonly [name: string]: string | Table;
}
const rowsOf = (table: Table): string[] =>
  Object.values(table).flatMap((row) => (typeof row === 'string' ? [row] : rowsOf(row)));
const methodAndPath = (row: string): string => row.split(' ', 2).join(' ');

/** Streams have their own function; pages and documents are for browsers. */
const noMethod =
  /^GET \/(|events\/stream|issues\/\{identifier\}|docs.*|openapi\.json|healthz|readyz|metrics)$/;
/** Files are sent and received with `fetch`. */
const files = ['POST /issues/{id}/attachments/upload', 'GET /attachments/{id}/content'];

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

test('every operation of the document has a method', async () => {
  const { paths } = (await app.call('GET', '/api/v1/openapi.json')).json;
  const documented = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => /^(get|post|put|patch|delete)$/.test(method))
      .map((method) => `${method.toUpperCase()} ${path.replace(/^\/api\/v1/, '')}`),
  );
  expect(documented.length).toBeGreaterThan(50);
  const withMethod = rowsOf(operations).map(methodAndPath);
  const without = documented.filter(
    (operation) => !withMethod.includes(operation) && !noMethod.test(operation),
  );
  expect(without.toSorted()).toEqual(files.toSorted());
  expect(withMethod.filter((operation) => !documented.includes(operation))).toEqual([]);
});

describe('the route accepts every input that the types allow:', () => {
  const taking = clientRoutes.filter(({ body, query }) => body ?? query);
  const types = readFileSync(join(root, 'sdk/generated/operations.ts'), 'utf8').replaceAll(/\s+/g, ' ');
  /** Finds the input type by the summary of the operation, which is the comment of its method. */
  const inputOf = (summary: string, argument: 'body' | 'query'): string => {
    const at = types.lastIndexOf(`/** ${summary}.`);
    const [, signature = ''] = /\*\/ (.*?)\): (Promise|List)</.exec(types.slice(at)) ?? [];
    return new RegExp(`${argument}\\??: (\\w+)`).exec(signature)?.[1] ?? `no ${argument} of ${summary}`;
  };

  test.each(taking.map((route) => [route.name, route] as const))('%s', (name, { summary, body, query }) => {
    const file = `${name.slice(0, name.indexOf('.'))}.ts`;
    const schema = body ?? query;
    if (!schema) return;
    const check = body ? compileCheck(body) : null;
    const read = query ? compileQuery(query) : null;
    const members = membersOf(file, inputOf(summary, body ? 'body' : 'query'));
    expect(members.map((member) => member.name).toSorted()).toEqual(namesOf(schema).toSorted());
    for (const value of valuesOf(members, schema)) {
      check?.(JSON.parse(JSON.stringify(value)));
      read?.(textsOf(value));
    }
  });
});
