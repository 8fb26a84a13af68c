// The settings of a plugin as a form, and their validation.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const source = (settings: string): string =>
  `{ id: 'com.test.form', version: '1.0.0', engines: { tatami: '*' }, actions: { go: { target: 'none', handle() {} } }, settings: ${settings} }`;

test('form fields are ordered and have their values, and each invalid value is named', async () => {
  const schema = `{ type: 'object', required: ['key'], properties: {
    key: { type: 'string', title: 'Key', minLength: 3, description: 'Which one.' },
    level: { enum: ['low', 'high'], default: 'low' },
    mail: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
  } }`;
  await install(app.call, await packSource(source(schema)), {
    settings: { key: 'abc', mail: { on: false } },
  });
  const path = '/api/v1/plugins/com.test.form';
  const { fields } = (await app.call('GET', `${path}/settings-form`)).json;
  expect(fields.map(({ name, type, required, value }: Json) => [name, type, required, value])).toEqual([
    ['key', 'string', true, 'abc'],
    ['level', 'string', false, 'low'],
    ['mail.on', 'boolean', false, false],
  ]);
  expect(fields[0]).toMatchObject({ title: 'Key', description: 'Which one.', minimum: 3, options: null });
  expect(fields[1].options).toEqual(['low', 'high']);
  const { json } = await app.call('PATCH', path, { settings: { key: 'a', level: 'odd' } });
  expect(json.error.details.map((one: Json) => one.path).toSorted()).toEqual([
    'settings.key',
    'settings.level',
  ]);
});

test('a schema with external references or unbounded cost is refused', async () => {
  for (const keyword of [`{ $ref: 'https://x/' }`, `{ type: 'string', pattern: '(a+)+$' }`]) {
    const document = await packSource(source(`{ type: 'object', properties: { a: ${keyword} } }`));
    const { status } = await app.call('POST', '/api/v1/plugins', { package: document, grant: [] });
    expect(status).toBe(422);
  }
});
