// Shared by the self-checking examples: steps, `ok` and `FAIL` lines, waiting, and API calls with one key.
export function check(what: string, holds: boolean, detail: unknown = ''): void {
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what} ${holds ? '' : JSON.stringify(detail)}`.trimEnd());
  if (!holds) process.exitCode = 1;
}

export const step = (text: string): void => console.log(`\n# ${text}`);

/** @throws Error if it takes longer than `seconds` */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 120,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`It took longer than ${seconds} s until ${what}.`);
    await Bun.sleep(50);
  }
}

export type Api = <T>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<T>;

/**
 * Returns a function that calls the API with a path relative to `/api/v1`. It waits when rate-limited, and
 * throws on other errors.
 */
export function apiOf(url: string, apiKey: string): Api {
  return async <T>(method: string, path: string, body?: unknown, headers = {}): Promise<T> => {
    for (;;) {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (response.status === 429) {
        await Bun.sleep(Number(response.headers.get('retry-after')) * 1000);
        continue;
      }
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return (text === '' ? null : JSON.parse(text)) as T;
    }
  };
}

/** Returns true while a run of the plugin has not ended. */
export async function runsOpen(api: Api, plugin: string): Promise<boolean> {
  const open = await Promise.all(
    ['queued', 'running', 'waiting', 'retrying'].map((status) =>
      api<{ data: unknown[] }>('GET', `/plugins/${plugin}/runs?status=${status}&limit=1`),
    ),
  );
  return open.some(({ data }) => data.length > 0);
}
