// Reads lists page by page.
import type { Call } from '../../../../sdk/client/call.ts';
import { createProgress } from './output.ts';

type Query = Readonly<Record<string, unknown>>;

/** @param path may have a query already */
export function pathWithQuery(path: string, query: Query): string {
  const entries = Object.entries(query).map(([key, value]): [string, string] => [
    key,
    Array.isArray(value)
      ? value.join(',')
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value),
  ]);
  if (entries.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(entries)}`;
}

export interface Pages<T> {
  readonly items: T[];
  /** Information of the last page. */
  readonly pageInfo: Readonly<Record<string, unknown>> & {
    readonly hasNextPage: boolean;
    readonly endCursor?: string | null;
  };
}

const pageItemsMax = 100;

/** @param itemsMax Infinity for all @param tell receives the number of items read so far, while more follow */
export async function readPages<T>(
  call: Call,
  { path, query = {} }: { readonly path: string; readonly query?: Query },
  itemsMax: number,
  tell: (count: number) => void = () => undefined,
): Promise<Pages<T>> {
  const items: T[] = [];
  let { after } = query;
  for (;;) {
    const limit = Math.min(pageItemsMax, itemsMax - items.length);
    const position = { ...query, limit, ...(after === undefined ? {} : { after }) };
    const { data, pageInfo } = await call<{ data: T[]; pageInfo: Pages<T>['pageInfo'] }>(
      'GET',
      pathWithQuery(path, position),
    );
    items.push(...data);
    const isEnd = !pageInfo.hasNextPage || typeof pageInfo.endCursor !== 'string';
    if (isEnd || items.length >= itemsMax) return { items, pageInfo };
    after = pageInfo.endCursor;
    tell(items.length);
  }
}

/** The same, with progress. */
export async function readWithProgress(
  call: Call,
  list: { path: string; query: Query },
  itemsMax: number,
): Promise<Pages<unknown>> {
  const progress = createProgress();
  try {
    return await readPages(call, list, itemsMax, (count) => progress.show(`${count} items read`));
  } finally {
    progress.end();
  }
}

/** Reads all pages of a list, whose path may have a query. */
export async function readAll<T>(call: Call, path: string): Promise<T[]> {
  return (await readPages<T>(call, { path }, Infinity)).items;
}
