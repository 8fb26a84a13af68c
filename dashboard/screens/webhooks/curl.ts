import type { DeliveryDetail } from '@tatami/sdk/client';

/** Quotes a text for a POSIX shell. */
const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** Set by curl itself. */
const ownHeaders = new Set(['content-length', 'host', 'connection', 'accept-encoding']);

/** Returns a command that repeats the last attempt of a delivery, with its signature. */
export function curlOf(
  url: string,
  { attemptList, payload }: Pick<DeliveryDetail, 'attemptList' | 'payload'>,
): string {
  const headers = Object.entries(attemptList.at(-1)?.requestHeaders ?? { 'content-type': 'application/json' })
    .filter(([name]) => !ownHeaders.has(name.toLowerCase()))
    .map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\\n`);
  return `curl -X POST ${quoted(url)} \\\n${headers.join('')}  --data-binary ${quoted(payload)}`;
}
