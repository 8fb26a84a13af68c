// Lists issues in pages that fit a host call: a page whose descriptions are too long is read again in smaller ones.
import { PluginError, type Chosen, type Issue, type IssueQuery } from '@tatami/sdk/plugin';
import type { LearnContext } from './context.ts';

const pageIssues = 40;
/** Maximum number of calls, including those for smaller pages after a rejected one. */
const callsMax = 12;

interface IssuePage<Field extends keyof Issue> {
  readonly items: readonly Pick<Issue, 'id' | Field>[];
  /** Cursor of the next page; null after the last one. */
  readonly next: string | null;
}

/** @param start cursor of the first page, empty for the newest issues, and the size of a page */
export async function* pagesOf<const Field extends keyof Issue>(
  ctx: Pick<LearnContext, 'issues'>,
  query: Pick<IssueQuery, 'team' | 'filter'>,
  fields: readonly Field[],
  start: { readonly after?: string; readonly limit?: number } = {},
): AsyncGenerator<IssuePage<Field>> {
  let { limit = pageIssues, after: cursor = '' } = start;
  for (let calls = 0; calls < callsMax; calls++) {
    let page;
    try {
      const paged = { ...query, fields, limit };
      page = await ctx.issues.list(cursor === '' ? paged : { ...paged, after: cursor });
    } catch (error) {
      // The result exceeded the limit of a host call, because descriptions are long.
      if (!(error instanceof PluginError) || limit === 1) throw error;
      limit = Math.max(1, Math.floor(limit / 4));
      continue;
    }
    const { hasNextPage, endCursor } = page.pageInfo;
    const next = hasNextPage ? endCursor : null;
    yield { items: page.data.filter((issue) => hasFields(issue, fields)), next };
    if (next === null) return;
    cursor = next;
  }
}

function hasFields<Field extends keyof Issue>(
  issue: Chosen<Issue>,
  fields: readonly Field[],
): issue is Chosen<Issue> & Pick<Issue, 'id' | Field> {
  return fields.every((name) => issue[name] !== undefined);
}
