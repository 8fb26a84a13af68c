// What the document says ahead of its operations: what every caller has to know once. The guides that it links to say the rest.
import { errorCodes } from '../../lib/errors.ts';

export function introduction(baseUrl: string): string {
  const guide = (name: string, words: string): string => `[${words}](${baseUrl}/docs/guides/${name})`;
  return `The REST API of Tatami: JSON over HTTP, under \`${baseUrl}/api/v1\`. An operation refuses what it does not know, by its name.

## Authentication

Send \`Authorization: Bearer <key>\`. A key belongs to a member of one workspace, sees nothing of others, and holds scopes such as
\`issues:write\`, which implies \`issues:read\`. Each operation names the scope that it needs. ${guide('authentication', 'More on keys')}.

## Lists

Lists answer \`{ data, pageInfo: { hasNextPage, endCursor } }\`. While \`hasNextPage\` is true, ask again with \`after\` set to \`endCursor\`.
Filters are parameters, or one JSON tree in \`filter\`, which webhooks and plugins share.
${guide('paging', 'More on paging')}, ${guide('filters', 'more on filters')}.

## Writes

Send an \`Idempotency-Key\` with a write and it can be sent again after a lost answer: for 24 hours the first answer comes back and nothing
happens twice. \`Tatami-Mode: simulate\` answers what a write would do and does nothing. Objects have a \`version\`, which their \`ETag\`
begins with: with \`If-Match\` a write fails with 412 when somebody else was quicker. ${guide('idempotency', 'More on idempotency')}.

## Rate limits

A minute allows a key 600 reads and 240 writes of an operation unless the administrator sets it otherwise. Every answer says in
\`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` what is left; a 429 says in \`Retry-After\` how many
seconds the limit that was hit asks to wait.
${guide('rate-limits', 'More on rate limits')}.

## Versions

Within \`v1\` there are only additions: accept fields and event types that you do not know. ${guide('versioning', 'More on versions')}.

## Errors

Every error has one shape, \`{ error: { code, message, details, requestId } }\`. Decide by \`code\`, which stays; \`details\` names the fields at
fault and what to do about each. ${guide('errors', 'More on errors')}.

${errorTable(baseUrl)}`;
}

function errorTable(baseUrl: string): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { status, retry, text }]) =>
      `| [\`${code}\`](${baseUrl}/docs/errors/${code}) | ${status} | ${retry ? 'yes' : 'no'} | ${text} |`,
  );
  return ['| Code | Status | Retry helps | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
