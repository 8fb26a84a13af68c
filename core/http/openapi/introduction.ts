// Introduction of the OpenAPI document. Details belong to the guides that it links to.
import { errorCodes } from '../../lib/errors.ts';

export function introduction(baseUrl: string): string {
  const guide = (name: string, words: string): string => `[${words}](${baseUrl}/docs/guides/${name})`;
  return `The REST API of Tatami: JSON over HTTP, under \`${baseUrl}/api/v1\`. Unknown parameters and fields are rejected by name.

## Authentication

Send \`Authorization: Bearer <key>\`. A key belongs to a member of one workspace, cannot access other workspaces, and has scopes such as
\`issues:write\`, which implies \`issues:read\`. Each operation names the scope that it needs. ${guide('authentication', 'More on keys')}.

## Lists

Lists return \`{ data, pageInfo: { hasNextPage, endCursor } }\`. While \`hasNextPage\` is true, request the next page with \`after\` set to
\`endCursor\`. Filters are query parameters, or one JSON tree in \`filter\`; webhooks and plugins use the same filters.
${guide('paging', 'More on paging')}, ${guide('filters', 'more on filters')}.

## Writes

A write with an \`Idempotency-Key\` is safe to retry: for 24 hours a repeat returns the first response and has no second effect.
\`Tatami-Mode: simulate\` returns the result of a write without applying it. Objects have a \`version\`, with which their \`ETag\` begins:
a write with \`If-Match\` fails with 412 if the object has changed. ${guide('idempotency', 'More on idempotency')}.

## Rate limits

By default a key may send 600 reads and 240 writes per minute to each operation; the administrator can change these limits. Every response
reports the limit in \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`; a 429 has the seconds to wait in
\`Retry-After\`.
${guide('rate-limits', 'More on rate limits')}.

## Versions

Changes within \`v1\` are additive: accept unknown fields and event types. ${guide('versioning', 'More on versions')}.

## Errors

All errors have the same shape, \`{ error: { code, message, details, requestId } }\`. Branch on \`code\`, which is stable; \`details\` lists
the invalid fields and how to fix each one. ${guide('errors', 'More on errors')}.

${errorTable(baseUrl)}`;
}

function errorTable(baseUrl: string): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { status, retry, text }]) =>
      `| [\`${code}\`](${baseUrl}/docs/errors/${code}) | ${status} | ${retry ? 'yes' : 'no'} | ${text} |`,
  );
  return ['| Code | Status | Retry helps | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
