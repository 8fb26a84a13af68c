// A headless browser that stores cookies, sends the forms of pages, and follows no redirect.
import type { TestApp } from '../../app.ts';

export interface PageResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Path of the redirect; null without one. */
  readonly to: string | null;
}

export interface Visitor {
  readonly cookies: Map<string, string>;
  get(path: string): Promise<PageResponse>;
  /** Sends a form; `form_token` is taken from the last page read. */
  post(
    path: string,
    fields?: Readonly<Record<string, string>>,
    headers?: Record<string, string>,
  ): Promise<PageResponse>;
}

/** @param host host name in the address bar, by default that of the server's address */
export function createVisitor(
  app: Pick<TestApp, 'url'>,
  agent = 'Mozilla/5.0 (X11; Linux) Firefox/140.0',
  host?: string,
): Visitor {
  const cookies = new Map<string, string>();
  let formToken: string | null = null;

  const send = async (
    path: string,
    init: RequestInit & { headers: Record<string, string> },
  ): Promise<PageResponse> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(app.url + path, {
      ...init,
      redirect: 'manual',
      headers: {
        'user-agent': agent,
        ...(host === undefined ? {} : { host }),
        ...(cookie === '' ? {} : { cookie }),
        ...init.headers,
      },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0(;|$)/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await answer.text();
    formToken = /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? formToken;
    const to = answer.headers.get('location');
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      to: to?.startsWith(app.url) ? to.slice(app.url.length) : to,
    };
  };

  return {
    cookies,
    get: (path) => send(path, { headers: {} }),
    post: (path, fields = {}, headers = {}) =>
      send(path, {
        method: 'POST',
        body: new URLSearchParams({ ...(formToken === null ? {} : { form_token: formToken }), ...fields }),
        headers: { origin: app.url, ...headers },
      }),
  };
}

/** Returns the text of the notice on a page. */
export function saidBy({ text }: PageResponse): string {
  return /class="notice[^>]*>([^<]*)</.exec(text)?.[1]?.replaceAll(/\s+/g, ' ').trim() ?? '';
}
