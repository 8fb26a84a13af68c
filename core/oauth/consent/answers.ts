// What a person, or the app, is told where there is nothing to ask.
import type { Arrival, RawAnswer } from '../../http/route.ts';
import type { Decision } from '../engine/engine.ts';
import { offeredScopes } from '../offered.ts';
import { noticePage } from './page.ts';

export const over = noticePage(
  'This request is over',
  'It was decided, or it is too old, or it was begun in another browser. Go back to the app and begin again.',
  410,
);

export const denied: Decision = { error: 'access_denied', why: 'The person did not allow it.' };
export const noneOffered: Decision = {
  error: 'invalid_scope',
  why: `None of the scopes is offered. Ask for some of: ${offeredScopes.join(' ')}`,
};

/** Signing in leads back here. */
export function toSignIn({ path, query }: Pick<Arrival, 'path' | 'query'>): RawAnswer {
  const to = path + (query.size > 0 ? `?${query}` : '');
  return {
    status: 303,
    contentType: 'text/plain',
    headers: { location: `/sign-in?to=${encodeURIComponent(to)}` },
    body: '',
  };
}

export function withoutPage(without: 'seat' | 'client'): RawAnswer {
  return without === 'seat'
    ? noticePage(
        'You are in no workspace',
        'You are a member of no workspace here, so there is nothing that you could let an app do. Ask an admin to invite you.',
        403,
      )
    : noticePage('This app is gone', 'It was removed while you were asked. Nothing was given to it.', 410);
}
