// Pages that browsers get in place of errors.
import type { ApiError, ErrorCode } from '../platform/lib/errors/errors.ts';
import type { RawAnswer } from './http/route.ts';
import { html, type Html, page, type PageOptions } from './html.ts';

interface ErrorText {
  readonly title: string;
  readonly content: Html;
}

/** Equal for every path and object, so that a page does not disclose which objects of other workspaces exist. */
const notFound: ErrorText = {
  title: 'Page not found',
  content: html`<p>
    There is nothing at this address, or your account may not see it. Check the address, or sign in with
    another account.
  </p>`,
};

const texts: Partial<Record<ErrorCode, ErrorText>> = {
  not_found: notFound,
  method_not_allowed: {
    title: 'This page cannot be opened',
    content: html`<p>This address only accepts forms. Open the page with the form and send it again.</p>`,
  },
  rate_limited: {
    title: 'Too many requests',
    content: html`<p>Wait a minute, then reload this page.</p>`,
  },
  internal_error: {
    title: 'This page failed',
    content: html`<p>Reload this page. If it fails again, report the request id to your administrator.</p>`,
  },
};

/**
 * Returns the page for an error.
 * @param requestId id for a report; omitted for errors that the person can solve
 */
export function errorPage(
  error: ApiError,
  { person, requestId }: Pick<PageOptions, 'person'> & { readonly requestId?: string } = {},
): RawAnswer {
  const { code, message, status, headers } = error;
  const { title, content } = texts[code] ?? {
    title: 'Something went wrong',
    content: html`<p class="notice problem" role="alert">${message}</p>`,
  };
  const id = status >= 500 && requestId !== undefined && html`<p class="soft">Request id: ${requestId}</p>`;
  return page(
    title,
    html`<div class="card">
      <h1>${title}</h1>
      ${content} ${id}
      <p><a class="button" href="/">Go to the start page</a></p>
    </div>`,
    { ...(person === undefined ? {} : { person }), status, headers },
  );
}
