// Sends issues in bulk. What the server has already is skipped; an issue that it refuses costs only itself; a key that may not say when
// issues were made costs them their times.
import { ApiCallError, type Call } from '../../../sdk/client/index.ts';
import { wordsOfField } from '../../lib/errors.ts';

interface NewIssue {
  team: string;
  createdAt?: string;
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

/** Makes issues. @throws ApiCallError */
type Post = (issues: readonly NewIssue[]) => Promise<void>;

/** @param untimed told once where times are not taken: from then on issues are sent without */
export function createPost(call: Call, untimed: () => void): Post {
  let isTimed = true;
  const send: Post = (issues) =>
    call('POST', '/issues/bulk', {
      issues: isTimed ? issues : issues.map((issue) => ({ ...issue, createdAt: undefined })),
    });
  return async (issues) => {
    try {
      await send(issues);
    } catch (error) {
      if (!isTimed || !refusesTimes(error)) throw error;
      isTimed = false;
      untimed();
      await send(issues);
    }
  };
}

/** For want of the scope, or by a server that is older than the field. */
function refusesTimes(error: unknown): boolean {
  if (!(error instanceof ApiCallError)) return false;
  if (error.status === 403) return error.message.includes('import:write');
  return error.details.some(({ path, issue }) => issue === 'unknown_field' && path.endsWith('.createdAt'));
}

/** @param rows at most 90: as many external ids as one filter holds */
export async function sendMissing(
  call: Call,
  post: Post,
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
  await send(post, missing, outcome);
}

/**
 * The server takes all of them or none. So the ones that it names are left out and the rest is sent again; where it names
 * none, halves are sent until the one at fault is alone.
 */
async function send(post: Post, rows: readonly Outgoing[], outcome: Outcome): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const refusal = await refusalOf(post, rows);
  if (!refusal) return outcome.created(rows.length);
  const named = namedIn(refusal, rows.length);
  if (named.size > 0) {
    settleNamed(rows, named, outcome);
    const rest = rows.filter((_, index) => !named.has(index));
    return send(post, rest, outcome);
  }
  if (rows.length === 1) return outcome.refused(first.line, refusal.message);
  const half = rows.length >> 1;
  await send(post, rows.slice(0, half), outcome);
  await send(post, rows.slice(half), outcome);
}

/** Null once the issues are created. @throws ApiCallError that is not about the issues */
async function refusalOf(post: Post, rows: readonly Outgoing[]): Promise<ApiCallError | null> {
  try {
    await post(rows.map(({ issue }) => issue));
    return null;
  } catch (error) {
    if (error instanceof ApiCallError && (error.status === 422 || error.status === 413)) return error;
    throw error;
  }
}

function settleNamed(rows: readonly Outgoing[], named: Named, outcome: Outcome): void {
  for (const [index, { line }] of rows.entries()) {
    const why = named.get(index);
    if (why === thereAlready) outcome.skipped(1);
    else if (why !== undefined) outcome.refused(line, why);
  }
}

/** A deleted issue keeps its external id: an import does not bring it back. */
const thereAlready = Symbol('there already');

/** Index of the issue → what is wrong with it. */
type Named = ReadonlyMap<number, string | typeof thereAlready>;

/** Reads paths such as `issues.3.title`. */
function namedIn(error: ApiCallError, count: number): Named {
  const named = new Map<number, string | typeof thereAlready>();
  for (const detail of error.details) {
    const { path, issue } = detail;
    const [, index, field] = /^issues\.(\d+)(?:\.(.*))?$/.exec(path) ?? [];
    // A name that is none of ours would be sent again for ever.
    if (index === undefined || Number(index) >= count) continue;
    const there = field === 'externalId' && issue === 'already_exists';
    named.set(Number(index), there ? thereAlready : `${field ?? 'issue'}: ${wordsOfField(error, detail)}`);
  }
  return named;
}
