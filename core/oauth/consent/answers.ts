// What a person, or the app, is told where there is nothing to ask.
import type { RawAnswer } from '../../http/route.ts';
import { html } from '../../html/html.ts';
import { card } from '../../identity/pages.ts';
import type { Decision } from '../engine/engine.ts';
import { offeredScopes } from '../offered.ts';

export const over = card(
  'This request is over',
  html`<p>
    It was decided, or it is too old, or it was begun in another browser. Go back to the app and begin again.
  </p>`,
  { status: 410 },
);

export const denied: Decision = { error: 'access_denied', why: 'The person did not allow it.' };
export const noneOffered: Decision = {
  error: 'invalid_scope',
  why: `None of the scopes is offered. Ask for some of: ${offeredScopes.join(' ')}`,
};

export function withoutPage(without: 'seat' | 'client'): RawAnswer {
  return without === 'seat'
    ? card(
        'You are in no workspace',
        html`<p>
          You are a member of no workspace here, so there is nothing that you could let an app do. Ask an
          admin to invite you.
        </p>`,
        { status: 403 },
      )
    : card('This app is gone', html`<p>It was removed while you were asked. Nothing was given to it.</p>`, {
        status: 410,
      });
}
