// A person who joined with a password, in a headless browser, and the requests of page scripts.
import { emailKeyOf } from '../../../core/features/people/accounts.ts';
import { systemStatement } from '../../../core/platform/store/statement.ts';
import { systemOp } from '../../../core/platform/store/store.ts';
import type { Json, TestApp } from '../../app.ts';
import { createVisitor, type Visitor } from './visitor.ts';

export const password = 'seven geese over the pond';

export interface Joined {
  readonly visitor: Visitor;
  readonly email: string;
  readonly memberId: string;
}

let people = 0;

export async function join(app: TestApp, email = `person${++people}@acme.example`): Promise<Joined> {
  const path = await invite(app, email);
  const visitor = createVisitor(app);
  const { status } = await visitor.post(path.link, { name: 'Ben', email, password });
  if (status !== 303) throw new Error(`Joining failed with status ${status}.`);
  return { visitor, email, memberId: path.memberId };
}

/** @returns the path of the link from the response */
export async function invite(
  app: Pick<TestApp, 'call'>,
  email: string,
): Promise<{ link: string; memberId: string }> {
  const { json: created } = await app.call('POST', '/api/v1/members', { name: 'Ben', email });
  const { json } = await app.call('POST', `/api/v1/members/${created.id}/invitation`);
  return { link: new URL(json.url).pathname, memberId: created.id };
}

/** Sends JSON as a script of a page does. */
export async function ask(
  app: Pick<TestApp, 'url'>,
  { cookies }: Pick<Visitor, 'cookies'>,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: Json }> {
  const answer = await fetch(app.url + path, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', origin: app.url },
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...headers,
    },
    body: JSON.stringify(body),
  });
  for (const line of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/max-age=0(;|$)/i.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }
  return { status: answer.status, json: (await answer.json()) as Json };
}

/** Returns the form token of the account page. */
export async function formTokenOf(visitor: Visitor): Promise<string> {
  const { text } = await visitor.get('/account');
  return /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
}

const dropPassword = systemStatement(
  'test.drop_password',
  'an account belongs to the installation',
  'UPDATE accounts SET password_hash = NULL WHERE email_key = :key',
);

/** Removes the password of an account, so that only other sign-in methods remain. */
export async function forgetPassword({ services }: Pick<TestApp, 'services'>, email: string): Promise<void> {
  await services.store.commit([systemOp(dropPassword, { key: emailKeyOf(email) }, { expectRows: 1 })]);
}
