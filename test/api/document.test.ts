// The OpenAPI document is readable, passes linters, and lets generators produce good clients.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createConfig, lintDocument, makeDocumentFromString, BaseResolver } from '@redocly/openapi-core';
import { Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import Ajv from 'ajv/dist/2020.js';
import { weekdays } from '../../core/platform/lib/time/business-time.ts';
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

/** Resolves a reference. */
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

/** The request and response bodies of operations and webhooks. */
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

/** Every object schema within a schema, once, with its path. */
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

/** The instruction comes first, so that a failure shows it with the places it applies to. */
function expectNone(fix: string, findings: readonly string[]): void {
  expect({ [fix]: [...new Set(findings)] }).toEqual({ [fix]: [] });
}

test('redocly reports nothing under its recommended rules', async () => {
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

test('spectral reports nothing under its OpenAPI rules', async () => {
  const spectral = new Spectral();
  // Redocly checks examples against their schemas too, at a tenth of the cost of this rule.
  spectral.setRuleset({ extends: { ...oas, extends: [] }, rules: { 'oas3-valid-media-example': 'off' } });
  const findings = await spectral.run(JSON.parse(text));
  // An example of a form field has members such as `default`, and is mistaken for a schema with an example.
  const isOfExample = ({ code, path }: (typeof findings)[number]): boolean =>
    code === 'oas3-valid-schema-example' && path.includes('example');
  const problems = findings.filter((one) => !isOfExample(one));
  expect(problems.map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`)).toEqual([]);
});

test('every body has a name, so that generated clients have a type for it', () => {
  const anonymous = bodies().filter(({ media, type }) => type === 'application/json' && !media.schema.$ref);
  expectNone(
    'describe these responses with a schema',
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

test('every property and parameter has a description', () => {
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

test('request schemas are closed and response schemas are open, so that responses can gain fields', () => {
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

test('response schemas have no bounds of texts and lists', () => {
  const bounds =
    /"(minLength|maxLength|minItems|maxItems|uniqueItems|minProperties|maxProperties)":|"pattern":"\\\\S"/;
  const bounded = allObjects('shown').filter(({ object }) => bounds.test(JSON.stringify(object.properties)));
  expect(bounded.map(({ at }) => at)).toEqual([]);
});

test('a deleted comment that starts a thread matches the document', async () => {
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

/** Properties of an object, and of the previous values in an event. */
const partOf = (title: string) => (part: string) => [`${title}.${part}`, `${title}Changed.${part}`];

/** Every property that a response may omit; all others are always present, with null for no value. */
const sometimes = [
  // Settings with parts are shown as they were submitted.
  ...['title', 'limit', 'hidden']
    .map((name) => `columns[].${name}`)
    .flatMap((part) => [...partOf('Board')(part), `BoardAsOf.${part}`]),
  ...weekdays.map((day) => `hours.${day}`).flatMap(partOf('Calendar')),
  ...partOf('Field')('options[].archived'),
  // Explicit budgets only; the usage has the effective ones.
  ...['cpuMs', 'runs', 'calls', 'egressBytes'].map((name) => `budget.${name}`).flatMap(partOf('Plugin')),
  'Actor.memberId',
  'AuditEntry.details.previousSecretExpiresAt',
  'AuditEntry.details.previousSecretLastSucceededAt',
  'BoardAsOf.asOf',
  'BoardAsOfPage.asOf',
  'BoardCards.asOf',
  'BoardColumnCards.asOf',
  'BoardColumnWithCards.cards',
  'BoardColumnWithCards.lanes',
  'BoardColumnWithCards.pageInfo',
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
  'InstalledPlugin.budget.calls',
  'InstalledPlugin.budget.cpuMs',
  'InstalledPlugin.budget.egressBytes',
  'InstalledPlugin.budget.runs',
  'Proposal.effects[].fields[].after',
  'Proposal.effects[].fields[].before',
  'Run.progress.unit',
  // The storage format of recordings.
  'RunRecording.calls[].answer.error',
  'RunRecording.calls[].answer.value',
  'TruncatedData.identifier',
  'TruncatedData.url',
].toSorted();

test('every property that responses always show is required', () => {
  const optional = allObjects('shown').flatMap(({ at, object }) =>
    Object.keys(object.properties)
      .filter((name) => !object.required?.includes(name))
      .map((name) => `${at}.${name}`),
  );
  const fix = 'always return these, with null for no value, or list them in `sometimes`';
  expectNone(
    fix,
    optional.filter((name) => !sometimes.includes(name)),
  );
  expect(optional.toSorted()).toEqual(sometimes);
});

test('an optional property of a request has no `default`, because generators would make it required', () => {
  const defaults = allObjects('given').flatMap(({ at, object }) =>
    Object.entries<Json>(object.properties)
      .filter(([, property]) => 'default' in property)
      .map(([name]) => `${at}.${name}`),
  );
  expectNone('state their default in their description', defaults);
});

test('every response has an example, and every error a realistic one', () => {
  // Files have arbitrary content.
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

test('tags are grouped, and their descriptions are sentences', () => {
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

test('objects, filters and parameters share one description for the same field', () => {
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
