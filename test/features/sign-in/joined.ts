import { expect } from 'bun:test';
import type { TestApp } from '../../app.ts';
import { createVisitor, type PageResponse, type Visitor } from './visitor.ts';

export const password = 'seven geese over the pond';

export const pathOf = (url: string): string => new URL(url).pathname;

interface Joined {
  readonly id: string;
  readonly email: string;
  readonly visitor: Visitor;
}

export interface Community {
  /** @returns the member id */
  addMember(fields?: object): Promise<string>;
  /** @returns the path of the link */
  invite(id: string): Promise<string>;
  /** A joined person, signed in. */
  joined(): Promise<Joined>;
  signInOn(visitor: Visitor, email: string, word?: string, to?: string): Promise<PageResponse>;
}

export function createCommunity(app: TestApp): Community {
  let memberCount = 0;
  const addMember: Community['addMember'] = async (fields = {}) =>
    (await app.call('POST', '/api/v1/members', { name: `Ben ${++memberCount}`, ...fields })).json.id;
  const invite: Community['invite'] = async (id) => {
    const { status, json } = await app.call('POST', `/api/v1/members/${id}/invitation`);
    expect(status).toBe(200);
    return pathOf(json.url);
  };
  return {
    addMember,
    invite,
    async joined() {
      const id = await addMember();
      const email = `person${memberCount}@acme.example`;
      const visitor = createVisitor(app);
      const joins = await visitor.post(await invite(id), { name: 'Ben', email, password });
      expect(joins).toMatchObject({ status: 303, to: '/welcome' });
      expect((await visitor.get('/account')).status).toBe(200);
      return { id, email, visitor };
    },
    signInOn: (visitor, email, word = password, to) =>
      visitor.post('/sign-in', { email, password: word, ...(to === undefined ? {} : { to }) }),
  };
}
