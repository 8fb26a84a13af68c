// Requests of an import: existing issues, and requests that the server may refuse.
import { type Call, ApiCallError } from '../../../../sdk/client/index.ts';

/** Maximum number of external ids in one filter. */
const idsAtOnceMax = 90;

export interface ExistingIssue {
  readonly id: string;
  readonly externalId: string;
  readonly parent: { readonly id: string } | null;
  /** Null unless deleted. */
  readonly deletedAt: string | null;
}

/** Returns issues by external id, including deleted ones, which an import does not create again. */
export async function findIssues(
  call: Call,
  source: string,
  externalIds: readonly string[],
): Promise<Map<string, ExistingIssue>> {
  const found = new Map<string, ExistingIssue>();
  for (let at = 0; at < externalIds.length; at += idsAtOnceMax) {
    const some = externalIds.slice(at, at + idsAtOnceMax);
    const filter = JSON.stringify({ externalSource: source, externalId: { in: some } });
    const { data } = await call<{ data: ExistingIssue[] }>(
      'GET',
      `/issues?limit=100&deleted=include&fields=id,externalId,parent,deletedAt&filter=${encodeURIComponent(filter)}`,
    );
    for (const issue of data) found.set(issue.externalId, issue);
  }
  return found;
}

export async function* inBatches<T>(rows: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < idsAtOnceMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Returns the result, or an error that concerns only this object. @throws ApiCallError for other errors, which end the import */
export async function attempted<T>(request: Promise<T>): Promise<{ value: T } | { refusal: ApiCallError }> {
  try {
    return { value: await request };
  } catch (error) {
    if (error instanceof ApiCallError && [403, 404, 409, 413, 422].includes(error.status))
      return { refusal: error };
    throw error;
  }
}
