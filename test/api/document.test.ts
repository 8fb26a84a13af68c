// The OpenAPI document as a product: what people read, what linters accept, and what generators make good clients of.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createConfig, lintDocument, makeDocumentFromString, BaseResolver } from '@redocly/openapi-core';
import { Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import Ajv from 'ajv/dist/2020.js';
import { weekdays } from '../../core/lib/business-time.ts';
import { startApp, type Json, type TestApp } from '../app.ts';

let app: TestApp;
let text: string;
let document: Json;

beforeAll(async () => {
  app = await startApp();
  text = (await app.clientOf(null)('GET', '/api/v1/openapi.json')).text;
  document = JSON.parse(text);
});
afterAll(() => app.stop());

/** What a reference stands for. */
function follow(part: Json): Json {
  if (part?.$ref === undefined) return part;
  const steps: string[] = part.$ref.slice(2).split('/');
  return steps.reduce((at: Json, step) => at[step.replaceAll('~1', '/')], document);
}

interface Operation {
  readonly name: string;
  readonly path: string;
  readonly operation: Json;
}

function operations(): Operation[] {
  return Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.values<Json>(item).map((operation) => ({ name: operation.operationId, path, operation })),
  );
}

/** The bodies of requests and answers, of operations and webhooks. */
function bodies(): { at: string; side: 'given' | 'shown'; media: Json; type: string }[] {
  const mediaOf = (at: string, side: 'given' | 'shown', content: Json = {}) =>
    Object.entries<Json>(content).map(([type, media]) => ({ at, side, media, type }));
  return [
    ...operations().flatMap(({ name, operation }) => [
      ...mediaOf(`${name} request`, 'given', operation.requestBody?.content),
      ...Object.entries<Json>(operation.responses).flatMap(([status, response]) =>
        mediaOf(`${name} ${status}`, 'shown', follow(response).content),
      ),
    ]),
    ...Object.entries<Json>(document.webhooks).flatMap(([type, { post }]) =>
      mediaOf(`webhook ${type}`, 'shown', post.requestBody.content),
    ),
  ];
}

/** Every object below a schema, once, with its place. */
function objectsIn(schema: Json, at: string, seen = new Set<Json>()): { at: string; object: Json }[] {
  const whole = follow(schema);
  if (whole === null || typeof whole !== 'object' || seen.has(whole)) return [];
  seen.add(whole);
  const schemaPath = schema.$ref ? schema.$ref.split('/').at(-1) : at;
  const parts: [string, Json][] = [
    ...Object.entries<Json>(whole.properties ?? {}).map(([name, part]): [string, Json] => [
      `${schemaPath}.${name}`,
      part,
    ]),
    ...['anyOf', 'allOf', 'oneOf'].flatMap((word) =>
      (whole[word] ?? []).map((part: Json): [string, Json] => [schemaPath, part]),
    ),
    ...['items', 'additionalProperties'].map((word): [string, Json] => [`${schemaPath}[]`, whole[word]]),
  ];
  const own = Object.keys(whole.properties ?? {}).length > 0 ? [{ at: schemaPath, object: whole }] : [];
  return [...own, ...parts.flatMap(([inner, part]) => (part ? objectsIn(part, inner, seen) : []))];
}

function allObjects(side: 'given' | 'shown'): { at: string; object: Json }[] {
  const seen = new Set<Json>();
  return bodies()
    .filter((body) => body.side === side)
    .flatMap(({ media, at }) => objectsIn(media.schema, at, seen));
}

/** Names the fix with what needs it. */
function expectNone(fix: string, findings: readonly string[]): void {
  expect({ [fix]: [...new Set(findings)] }).toEqual({ [fix]: [] });
}

test('redocly finds nothing in it under the recommended rules', async () => {
  const problems = await lintDocument({
    document: makeDocumentFromString(text, 'openapi.json'),
    externalRefResolver: new BaseResolver(),
    config: await createConfig({ extends: ['recommended'] }),
  });
  const findings = problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`,
  );
  expect(findings).toEqual([]);
});

test('spectral finds nothing in it under its rules for OpenAPI', async () => {
  const spectral = new Spectral();
  // Redocly holds examples to their schemas too, at a tenth of what this rule takes.
  spectral.setRuleset({ extends: { ...oas, extends: [] }, rules: { 'oas3-valid-media-example': 'off' } });
  const findings = await spectral.run(JSON.parse(text));
  // An example that shows a field of a form has members such as `default`, and is taken for a schema with an example.
  const isOfExample = ({ code, path }: (typeof findings)[number]): boolean =>
    code === 'oas3-valid-schema-example' && path.includes('example');
  const problems = findings.filter((one) => !isOfExample(one));
  expect(problems.map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`)).toEqual([]);
});

test('every body has a name, so that generated clients have a type for it', () => {
  const anonymous = bodies().filter(({ media, type }) => type === 'application/json' && !media.schema.$ref);
  expectNone(
    'answer these with a schema',
    anonymous.map(({ at }) => at),
  );
  const names = Object.keys(document.components.schemas);
  expectNone(
    'name these in PascalCase with `named`',
    names.filter((name) => !/^([A-Z][a-zA-Z0-9]*)$/.test(name)),
  );
  expect(names).toEqual(
    expect.arrayContaining(['IssueCreate', 'IssueUpdate', 'IssuePage', 'IssueBulkCreate']),
  );
});

test('every property and parameter says what it is', () => {
  const silent = [...allObjects('given'), ...allObjects('shown')].flatMap(({ at, object }) =>
    Object.entries<Json>(object.properties)
      .filter(([, property]) => !property.description && !follow(property).description)
      .map(([name]) => `${at}.${name}`),
  );
  expectNone('give these a `doc` in their contract, or a description in their schema', silent);
  const parameters = operations().flatMap(({ name, operation }) =>
    operation.parameters
      .map(follow)
      .filter((parameter: Json) => !parameter.description)
      .map((parameter: Json) => `${name} ${parameter.name}`),
  );
  expectNone('give these a description in their schema', parameters);
});

test('requests are closed and answers open, as an answer may show more one day', () => {
  const open = allObjects('given').filter(({ object }) => object.additionalProperties !== false);
  expectNone(
    'make these with `Closed`',
    open.map(({ at }) => at),
  );
  const closed = allObjects('shown').filter(({ object }) => object.additionalProperties === false);
  expect(closed.map(({ at }) => at)).toEqual([]);

  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  const takes = (name: string, value: unknown): boolean =>
    ajv.validate(`document#/components/schemas/${name}`, value) as boolean;
  const { example: issue } =
    document.paths['/api/v1/issues/{id}'].get.responses['200'].content['application/json'];
  expect(takes('Issue', issue)).toBe(true);
  expect(takes('Issue', { ...issue, weather: 'fine' })).toBe(true);
  const { title: _, ...untitled } = issue;
  expect(takes('Issue', untitled)).toBe(false);
  expect(takes('IssueCreate', { team: 'ENG', title: 'One' })).toBe(true);
  expect(takes('IssueCreate', { team: 'ENG', title: 'One', weather: 'fine' })).toBe(false);
});

test('answers have no bounds of texts and lists, which are rules of requests', () => {
  const bounds =
    /"(minLength|maxLength|minItems|maxItems|uniqueItems|minProperties|maxProperties)":|"pattern":"\\\\S"/;
  const bounded = allObjects('shown').filter(({ object }) => bounds.test(JSON.stringify(object.properties)));
  expect(bounded.map(({ at }) => at)).toEqual([]);
});

test('a deleted comment that begins a thread is as the document says', async () => {
  const path = `/api/v1/issues/${(await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'One' })).json.id}/comments`;
  const first = (await app.call('POST', path, { body: 'First' })).json;
  await app.call('POST', path, { body: 'Reply', parentId: first.id });
  await app.call('DELETE', `/api/v1/comments/${first.id}`);
  const { json } = await app.call('GET', `/api/v1/comments/${first.id}`);
  expect(json).toMatchObject({ id: first.id, body: '' });
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  expect([ajv.validate('document#/components/schemas/Comment', json), ajv.errors]).toEqual([true, null]);
});

/** Of an object, and of what an event says was changed of it. */
const partOf = (title: string) => (part: string) => [`${title}.${part}`, `${title}Changed.${part}`];

/** All that an answer may leave out; everything else is always there, and null where there is nothing. */
const sometimes = [
  // Settings with parts are shown as they were given.
  ...['title', 'limit', 'hidden']
    .map((name) => `columns[].${name}`)
    .flatMap((part) => [...partOf('Board')(part), `BoardAsOf.${part}`]),
  ...weekdays.map((day) => `hours.${day}`).flatMap(partOf('Calendar')),
  ...partOf('Field')('options[].archived'),
  // What was set; all of what applies stands in the usage.
  ...['cpuMs', 'runs', 'calls', 'egressBytes'].map((name) => `budget.${name}`).flatMap(partOf('Plugin')),
  'Actor.memberId',
  'AuditEntry.details.previousSecretExpiresAt',
  'AuditEntry.details.previousSecretLastSucceededAt',
  'BoardAsOf.asOf',
  'BoardAsOfPage.asOf',
  'BoardCards.asOf',
  'BoardColumnCards.asOf',
  'BoardColumnShown.cards',
  'BoardColumnShown.lanes',
  'BoardColumnShown.pageInfo',
  'Cause.onBehalfOf',
  'Comment.bodyHtml',
  'ErrorDetail.fix',
  'ErrorDetail.value',
  'Issue.descriptionHtml',
  'IssueAsOf.asOf',
  'IssueAsOf.descriptionHtml',
  'IssueAsOfPage.asOf',
  'ProjectAsOf.asOf',
  'ProjectAsOfPage.asOf',
  'PluginStanding.budget.calls',
  'PluginStanding.budget.cpuMs',
  'PluginStanding.budget.egressBytes',
  'PluginStanding.budget.runs',
  'Proposal.effects[].fields[].after',
  'Proposal.effects[].fields[].before',
  'Run.progress.unit',
  // The form in which recordings are kept.
  'RunRecording.calls[].answer.error',
  'RunRecording.calls[].answer.value',
  'TruncatedData.identifier',
  'TruncatedData.url',
].toSorted();

test('what answers always show is required', () => {
  const optional = allObjects('shown').flatMap(({ at, object }) =>
    Object.keys(object.properties)
      .filter((name) => !object.required?.includes(name))
      .map((name) => `${at}.${name}`),
  );
  const fix = 'answer these always, with null where there is nothing, or list them in `sometimes`';
  expectNone(
    fix,
    optional.filter((name) => !sometimes.includes(name)),
  );
  expect(optional.toSorted()).toEqual(sometimes);
});

test('what a request may leave out has no `default`, which generators take for required', () => {
  const defaults = allObjects('given').flatMap(({ at, object }) =>
    Object.entries<Json>(object.properties)
      .filter(([, property]) => 'default' in property)
      .map(([name]) => `${at}.${name}`),
  );
  expectNone('say their default in their description', defaults);
});

test('each answer has an example, each error a realistic one', () => {
  // A file is whatever it is.
  const said = bodies().filter(({ type }) => type !== 'application/octet-stream');
  const without = said.filter(({ media }) => media.example === undefined && media.examples === undefined);
  expectNone(
    'run UPDATE_DOCS=1 bun test test/api/openapi.test.ts for these',
    without.map(({ at }) => at),
  );
  for (const { name, operation } of operations())
    for (const [status, response] of Object.entries<Json>(operation.responses))
      if (Number(status) >= 400 && follow(response)['x-error-codes'])
        expect([name, Object.keys(follow(response).content['application/json'].examples)]).toEqual([
          name,
          follow(response)['x-error-codes'],
        ]);
});

test('tags are in groups and say in sentences what they are about', () => {
  const tags: Json[] = document.tags;
  const grouped = document['x-tagGroups'].flatMap((group: Json) => group.tags);
  expect(grouped).toEqual(tags.map(({ name }) => name));
  for (const { name, description, 'x-displayName': title } of tags) {
    expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z].{20,}\.$/)]);
    expect([name, title]).toEqual([name, expect.stringMatching(/^[A-Z]/)]);
  }
  for (const { name, operation } of operations())
    expect([name, operation.tags]).toEqual([name, [name.slice(0, name.indexOf('.'))]]);
});

test('words that mean the same are said once, for objects, filters and parameters', () => {
  const listOf = (name: string): Json =>
    operations()
      .find(({ name: operation }) => operation === 'issues.list')!
      .operation.parameters.find((parameter: Json) => parameter.name === name);
  expect(listOf('priority').schema).toEqual({ $ref: '#/components/schemas/IssuePriority' });
  const lists = new Map<string, string[]>();
  const visit = (value: Json, at: string): void => {
    if (value === null || typeof value !== 'object') return;
    if (Array.isArray(value.enum) && value.enum.length > 1 && !at.includes('/example')) {
      const words = JSON.stringify(value.enum.toSorted());
      lists.set(words, [...(lists.get(words) ?? []), at]);
    }
    for (const [name, inner] of Object.entries(value)) visit(inner, `${at}/${name}`);
  };
  visit(document, '#');
  const anonymous = [...lists.values()].flat().filter((at) => !/^#\/components\/schemas\/\w+$/.test(at));
  expectNone('make these with `enumeration`', anonymous);
});
