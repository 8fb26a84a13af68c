// Responses to authorization requests that end without a consent page.
import type { RawAnswer } from '../../../kernel/http/route.ts';
import { html } from '../../../kernel/html.ts';
import { card } from '../../sign-in/index.ts';
import type { Decision } from '../engine/engine.ts';
import { offeredScopes } from '../offered.ts';

export const over = card(
  'This request has ended',
  html`<p>
    The request was already decided, has expired, or was started in another browser. Go back to the app and
    start again.
  </p>`,
  { status: 410 },
);

export const denied: Decision = {
  error: 'access_denied',
  why: 'The person denied the request. Ask again only if the person wants to allow the access.',
};
export const noneOffered: Decision = {
  error: 'invalid_scope',
  why: `No requested scope is supported. Request some of: ${offeredScopes.join(' ')}.`,
};

export function withoutPage(without: 'seat' | 'client'): RawAnswer {
  return without === 'seat'
    ? card(
        'No workspace',
        html`<p>
          You are not a member of any workspace on this server, so you cannot give access to an app. Ask an
          admin of a workspace for an invitation.
        </p>`,
        { status: 403 },
      )
    : card(
        'This app was removed',
        html`<p>The app no longer exists and got no access. Contact its developer.</p>`,
        {
          status: 410,
        },
      );
}
