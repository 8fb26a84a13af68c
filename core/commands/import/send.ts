// Sends issues in bulk. What the server has already is skipped; an issue that it refuses costs only itself.
import { ApiCallError, type Client } from '../../../sdk/client/index.ts';

interface NewIssue {
  team: string;
  title: string;
  description: string;
  labels: string[];
  externalSource: string;
  externalId: string;
}

export interface Outgoing {
  readonly line: number;
  readonly issue: NewIssue;
}

export interface Outcome {
  created(count: number): void;
  skipped(count: number): void;
  refused(line: number, why: string): void;
}

/** @param rows at most 90: as many external ids as one filter holds */
export async function sendMissing(
  call: Client,
  source: string,
  rows: readonly Outgoing[],
  outcome: Outcome,
): Promise<void> {
  const filter = JSON.stringify({
    externalSource: source,
    externalId: { in: rows.map(({ issue }) => issue.externalId) },
  });
  const { data } = await call<{ data: { externalId: string }[] }>(
    'GET',
    `/issues?limit=100&fields=externalId&filter=${encodeURIComponent(filter)}`,
  );
  const there = new Set(data.map(({ externalId }) => externalId));
  const missing = rows.filter(({ issue }) => !there.has(issue.externalId));
  outcome.skipped(rows.length - missing.length);
  await send(call, missing, outcome);
}

/** All or nothing is how the server takes them: without the ones it names, the rest is sent again. */
async function send(call: Client, rows: readonly Outgoing[], outcome: Outcome): Promise<void> {
  if (rows.length === 0) return;
  try {
    await call('POST', '/issues/bulk', { issues: rows.map(({ issue }) => issue) });
    outcome.created(rows.length);
  } catch (error) {
    if (!(error instanceof ApiCallError) || (error.status !== 422 && error.status !== 413)) throw error;
    const named = namedIn(error);
    if (named.size === 0 && rows.length > 1) {
      const half = rows.length >> 1;
      await send(call, rows.slice(0, half), outcome);
      await send(call, rows.slice(half), outcome);
      return;
    }
    for (const [index, { line }] of rows.entries()) {
      if (named.size > 0 && !named.has(index)) continue;
      const why = named.size === 0 ? error.message : named.get(index);
      if (why === thereAlready) outcome.skipped(1);
      else outcome.refused(line, why ?? error.message);
    }
    const rest = rows.filter((_, index) => named.size > 0 && !named.has(index));
    await send(call, rest, outcome);
  }
}

/** A deleted issue keeps its external id: an import does not bring it back. */
const thereAlready = Symbol('there already');

/** Index of the issue → what is wrong with it, from paths such as `issues.3.title`. */
function namedIn(error: ApiCallError): Map<number, string | typeof thereAlready> {
  const named = new Map<number, string | typeof thereAlready>();
  for (const { path, issue, fix } of error.details) {
    const [, index, field] = /^issues\.(\d+)(?:\.(.*))?$/.exec(path) ?? [];
    if (index === undefined) continue;
    const there = field === 'externalId' && issue === 'already_exists';
    named.set(Number(index), there ? thereAlready : `${field ?? 'issue'}: ${fix ?? issue}`);
  }
  return named;
}
