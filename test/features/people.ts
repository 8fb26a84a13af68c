import { startApp, type Client, type Json, type TestApp } from '../app.ts';

export const v1 = '/api/v1';

export interface Person {
  readonly id: string;
  readonly call: Client;
}

export interface PeopleFixtures {
  readonly app: TestApp;
  readonly ana: Person;
  readonly ben: Person;
  /** Creates an issue owned by the workspace owner. */
  file(title: string, more?: object): Promise<Json>;
}

const scopes = ['issues:write', 'comments:write', 'inbox:write', 'events:read', 'members:read'];

export async function join(app: TestApp, name: string, role = 'member'): Promise<Person> {
  const { json: member } = await app.call('POST', `${v1}/members`, { name, role });
  const { json: key } = await app.call('POST', `${v1}/api-keys`, { name, scopes, memberId: member.id });
  return { id: member.id, call: app.clientOf(key.key) };
}

export async function startFixtures(): Promise<PeopleFixtures> {
  const app = await startApp();
  return {
    app,
    ana: await join(app, 'Ana Lindqvist'),
    ben: await join(app, 'Ben Okafor'),
    file: async (title, more = {}) =>
      (await app.call('POST', `${v1}/issues`, { team: 'ENG', title, ...more })).json,
  };
}
