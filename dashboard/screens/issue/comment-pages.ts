// Comments of an issue by pages, newest first, and the reactions to them.
import { useQueries } from '@tanstack/react-query';
import type { Client, Comment, Page, ReactionsByComment } from '@tatami/sdk/client';
import { useMemo } from 'react';
import { usePages, type Pages } from '../../data/pages.ts';
import { queryClient, useClient } from '../../data/provider.tsx';

/** Maximum number of comments in a page, and of ids in a request. */
const pageSize = 100;

export const commentsKey = (issueId: string) => ['comments', issueId] as const;

export function useComments(issueId: string): Pages<Comment> {
  const client = useClient();
  const pages = usePages(
    commentsKey(issueId),
    (after, signal) => pageOfComments(client, issueId, after, signal),
    { follows: [issueId] },
  );
  const { items = none } = pages;
  // A first comment is part of each page that has a reply to it.
  const distinct = useMemo(() => [...new Map(items.map((one) => [one.id, one])).values()], [items]);
  return { ...pages, items: distinct };
}

const none: readonly Comment[] = [];

/** Reads a page of comments, together with the first comments of the threads of its replies. */
async function pageOfComments(
  client: Client,
  issueId: string,
  after: { readonly after?: string },
  signal: AbortSignal,
): Promise<Page<Comment>> {
  const order = { sort: '-createdAt', limit: pageSize } as const;
  const page = await client.comments.list(issueId, { ...order, ...after }, { signal });
  const known = new Set(page.data.map(({ id }) => id));
  const missing = new Set(page.data.flatMap(({ parentId }) => parentId ?? [])).difference(known);
  if (missing.size === 0) return page;
  const ids = [...missing].join();
  const roots = await Array.fromAsync(client.comments.list(issueId, { ...order, ids }, { signal }));
  return { ...page, data: [...page.data, ...roots] };
}

export type ReactionGroups = ReactionsByComment['data'][number]['reactions'];
type ByComment = ReactionsByComment['data'];

/** Key of the reactions to some comments. It ends in their ids. */
type ReactionsKey = readonly ['reactions', string, readonly string[]];

/** Returns the reactions by the id of their comment. Reads those of 100 comments with one request. */
export function useReactions(
  issueId: string,
  comments: readonly Comment[],
): ReadonlyMap<string, ReactionGroups> {
  const client = useClient();
  const chunks = useMemo(() => chunksOf(comments), [comments]);
  return useQueries({
    queries: chunks.map((ids) => ({
      queryKey: ['reactions', issueId, ids] satisfies ReactionsKey,
      queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<ByComment> =>
        (await client.reactions.listByComment(issueId, { ids: ids.join() }, { signal })).data,
      // A new comment changes the ids, and the known reactions stay.
      placeholderData: (): ByComment => knownReactions(issueId, ids),
      meta: { follows: ids },
    })),
    combine: byCommentOf,
  });
}

function chunksOf(comments: readonly Comment[]): readonly (readonly string[])[] {
  const ids = comments.filter(({ deletedAt }) => deletedAt === null).map(({ id }) => id);
  return Array.from({ length: Math.ceil(ids.length / pageSize) }, (_, at) =>
    ids.slice(at * pageSize, (at + 1) * pageSize),
  );
}

function byCommentOf(
  results: readonly { readonly data: ByComment | undefined }[],
): ReadonlyMap<string, ReactionGroups> {
  const all = results.flatMap(({ data = [] }) => data);
  return new Map(all.map(({ commentId, reactions }) => [commentId, reactions]));
}

function knownReactions(issueId: string, ids: readonly string[]): ByComment {
  const known = queryClient
    .getQueryCache()
    .findAll({ queryKey: ['reactions', issueId] })
    .toSorted((a, b) => a.state.dataUpdatedAt - b.state.dataUpdatedAt)
    .flatMap(({ state }) => (state.data as ByComment | undefined) ?? []);
  const wanted = new Set(ids);
  return [...new Map(known.map((one) => [one.commentId, one])).values()].filter(({ commentId }) =>
    wanted.has(commentId),
  );
}

/** Reads the reactions to a comment again, with those of the comments in the same request. */
export function refreshReactions(issueId: string, commentId: string): Promise<void> {
  return queryClient.invalidateQueries({
    queryKey: ['reactions', issueId],
    predicate: ({ queryKey }) => (queryKey as unknown as ReactionsKey)[2].includes(commentId),
  });
}
