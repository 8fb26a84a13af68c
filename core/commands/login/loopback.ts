// Loopback redirect URI of a login (RFC 8252 §7.3): a local port that is open until the browser delivers the code. Other requests are
// rejected.

const path = '/callback';

export interface Loopback {
  readonly redirectUri: string;
  /** The address that the browser came with; its parameters are to be checked. */
  readonly answer: Promise<URL>;
  /** Once the browser has its page. */
  close(): Promise<void>;
}

/** @param state of the request, which no other page of the browser knows (RFC 6749 §10.12) */
export function listen(state: string): Loopback {
  const { promise: answer, resolve } = Promise.withResolvers<URL>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const url = new URL(request.url);
      // A host name other than the address indicates DNS rebinding by another site.
      const isOurs =
        request.method === 'GET' && url.pathname === path && url.host === `127.0.0.1:${server.port}`;
      if (!isOurs) return page(404, 'Page not found. Return to the command line.');
      if (url.searchParams.get('state') !== state)
        return page(
          400,
          'This login does not match the one that the command line started. Run tatami login again.',
        );
      resolve(url);
      return page(
        200,
        url.searchParams.has('code')
          ? 'Login allowed. You can close this page and return to the command line.'
          : 'Login denied. You can close this page.',
      );
    },
  });
  return {
    redirectUri: `http://127.0.0.1:${server.port}${path}`,
    answer,
    close: () => server.stop(),
  };
}

function page(status: number, text: string): Response {
  return new Response(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tatami</title><p>${text}</p></html>`,
    {
      status,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        // The port closes once this is read.
        connection: 'close',
      },
    },
  );
}
