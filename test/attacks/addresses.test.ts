// An e-mail address has one normal form: look-alikes and other case foldings are rejected or normalized to the same
// address.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type TestApp } from '../app.ts';
import { password } from '../features/sign-in/member.ts';
import { createVisitor, saidBy, type PageResponse } from '../features/sign-in/visitor.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const members = '/api/v1/members';

async function joins(email: string, name = 'Ana'): Promise<PageResponse> {
  const { json: member } = await app.call('POST', members, { name: 'Somebody' });
  const { json } = await app.call('POST', `${members}/${member.id}/invitation`);
  return createVisitor(app).post(new URL(json.url).pathname, { name, email, password });
}

async function added(email: string): Promise<string> {
  const { status, json } = await app.call('POST', members, { name: 'New', email });
  return status === 201 ? 'taken' : json.error.details[0].issue;
}

const refused: readonly (readonly [what: string, email: string])[] = [
  ['a zero-width space', 'mi\u200bke@acme.example'],
  ['a zero-width joiner', 'mi\u200dke@acme.example'],
  ['a soft hyphen', 'mi\u00adke@acme.example'],
  ['a bidirectional control character', 'mike\u202e@acme.example'],
  ['a control character', 'mi\u0001ke@acme.example'],
  ['the Kelvin sign', 'mi\u212ae@acme.example'],
  ['full-width letters', 'ｍike@acme.example'],
  ['a long s', 'mi\u017fe@acme.example'],
  ['a Cyrillic letter among Latin ones', 'm\u0456ke@acme.example'],
  ['Cyrillic letters that resemble Latin ones', '\u0430\u0441\u0435@acme.example'],
  ['a Greek letter among Latin ones', 'mik\u03b5@acme.example'],
  ['a Cyrillic letter in the domain', 'mike@\u0430cme.example'],
  ['the same domain in Punycode', 'mike@xn--cme-5cd.example'],
  ['a domain of letters that resemble Latin ones', 'mike@\u0430\u0441\u0435.example'],
  ['an invalid domain', 'mike@acme..example'],
  ['a quoted name', '"mike"@acme.example'],
];

for (const [what, email] of refused)
  test(`an address with ${what} is rejected for accounts and members`, async () => {
    expect(saidBy(await joins(email))).toContain('address');
    expect(await added(email)).toBe('invalid_format');
  });

test('composed and decomposed letters, case and Punycode are one address, for accounts and members', async () => {
  const same = [
    'jos\u00e9@b\u00fccher.example',
    'jose\u0301@bu\u0308cher.example',
    'JOS\u00c9@xn--bcher-kva.EXAMPLE',
  ];
  expect((await joins(same[0]!)).status).toBe(303);
  for (const email of same) expect(saidBy(await joins(email))).toContain('Sign in to it');
  for (const email of same)
    expect((await createVisitor(app).post('/sign-in', { email, password })).status).toBe(303);
  expect(await added(same[0]!)).toBe('taken');
  for (const email of same) expect(await added(email)).toBe('already_exists');
});

test('addresses in other scripts are accepted', async () => {
  for (const email of [
    'иван@пример.рф',
    'δοκιμή@παράδειγμα.gr',
    '用户@例子.example',
    "o'neil+x@acme.example",
  ])
    expect([email, (await joins(email)).status]).toEqual([email, 303]);
});

test('a member cannot imitate the address or the name of an admin', async () => {
  const admin = { name: 'Ada Admin', email: 'ada@acme.example', role: 'admin' };
  await app.call('POST', members, admin);
  const { json: eve } = await app.call('POST', members, { name: 'Eve' });
  const { json } = await app.call('POST', '/api/v1/api-keys', {
    name: 'k',
    scopes: allScopes,
    memberId: eve.id,
  });
  const asEve = app.clientOf(json.key);
  const refusedFor = async (patch: object): Promise<string> => {
    const answer = await asEve('PATCH', `${members}/me`, patch);
    return answer.status === 200 ? 'taken' : answer.json.error.details[0].path;
  };
  for (const email of [
    'ada@acme.example',
    'ADA@ACME.example',
    '\u0430da@acme.example',
    'a\u200bda@acme.example',
  ])
    expect([email, await refusedFor({ email })]).toEqual([email, 'email']);
  for (const name of [
    'Ada Admin',
    'ada  admin',
    '\u0410da Admin',
    'Ada\u200b Admin',
    'Ada Admin\u202e',
    'Ａda Admin',
  ])
    expect([name, await refusedFor({ name })]).toEqual([name, 'name']);
  const joining = await joins('eve@acme.example', 'ADA ADMIN');
  expect([joining.status, saidBy(joining)]).toEqual([422, expect.stringContaining('name')]);
  expect(await refusedFor({ name: 'Eve E.', email: 'eve@other.example' })).toBe('taken');
});
