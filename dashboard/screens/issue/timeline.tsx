// Comments, activity and trail of an issue in one order of time.
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Comment, Issue, TrailNode, TrailRoot } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectField } from '../../parts/fields.tsx';
import { text } from '../../text/issue.ts';
import { useComments, useReactions } from './comment-pages.ts';
import { NewComment, Thread } from './comments.tsx';
import { TrailEntry } from './trail.tsx';

const kinds = ['all', 'comments', 'activity', 'trail'] as const;
type Kind = (typeof kinds)[number];

const names: Readonly<Record<Kind, string>> = {
  all: text.all,
  comments: text.commentsOnly,
  activity: text.activityOnly,
  trail: text.trailOnly,
};

type Entry =
  | {
      readonly kind: 'comment';
      readonly at: string;
      readonly comment: Comment;
      readonly replies: readonly Comment[];
    }
  | { readonly kind: 'root'; readonly at: string; readonly root: TrailRoot };

/** The page of an issue has the kind in its URL. A panel shares the URL with a list, so there it is state. */
function useKind(isPage: boolean): readonly [Kind, (kind: Kind) => void] {
  const { timeline } = useSearch({ strict: false }) as { readonly timeline?: string };
  const navigate = useNavigate();
  const [picked, setPicked] = useState(isPage ? timeline : undefined);
  const pick = (kind: Kind): void => {
    setPicked(kind);
    if (isPage)
      void navigate({
        to: '.',
        search: (before: object) => ({ ...before, timeline: kind === 'all' ? undefined : kind }),
        replace: true,
      });
  };
  return [kinds.find((kind) => kind === picked) ?? 'all', pick];
}

interface TimelineProps {
  readonly issue: Issue;
  readonly isPage: boolean;
}

export function Timeline({ issue, isPage }: TimelineProps): ReactNode {
  const client = useClient();
  const [kind, setKind] = useKind(isPage);
  const comments = useComments(issue.id);
  const trail = usePages(
    ['issues', 'trail', issue.id],
    (after, signal) => client.issues.trail(issue.id, { limit: 50, ...after }, { signal }),
    { follows: [issue.id] },
  );
  const { items = [] } = comments;
  const reactions = useReactions(issue.id, items);
  const entries = entriesOf(items, trail.items ?? [], kind);
  const earlier = [
    ...(showsComments(kind) ? [comments] : []),
    ...(kind === 'comments' ? [] : [trail]),
  ].filter(({ hasMore }) => hasMore);
  return (
    <section className="stack">
      <div className="row wrap">
        <h2 className="grow">{text.timeline}</h2>
        <SelectField
          label={text.shown}
          value={kind}
          options={kinds.map((one) => [one, names[one]])}
          onPick={(picked) => setKind(picked as Kind)}
        />
      </div>
      {earlier.length > 0 && (
        <Button
          onClick={() => earlier.forEach(({ loadMore }) => loadMore())}
          disabled={earlier.some(({ isLoadingMore }) => isLoadingMore)}
        >
          {text.earlier}
        </Button>
      )}
      <ol aria-label={text.timeline} className="stack">
        {entries.map((entry) =>
          entry.kind === 'comment' ? (
            <Thread
              key={entry.comment.id}
              issueId={issue.id}
              comment={entry.comment}
              replies={entry.replies}
              reactions={reactions}
            />
          ) : (
            <TrailEntry
              key={entry.root.rootId + entry.at}
              root={entry.root}
              isActivity={kind === 'activity'}
            />
          ),
        )}
      </ol>
      <NewComment issueId={issue.id} />
    </section>
  );
}

const showsComments = (kind: Kind): boolean => kind === 'all' || kind === 'comments';

/** Events of comments are shown as the comments themselves. */
const isShown = ({ type }: TrailNode): boolean => type === null || !/^(comment|reaction)\./.test(type);

function entriesOf(newest: readonly Comment[], roots: readonly TrailRoot[], kind: Kind): readonly Entry[] {
  const comments = newest.toReversed();
  const threads = comments
    .filter(({ parentId }) => parentId === null)
    .map((comment): Entry => {
      const replies = comments.filter(({ parentId }) => parentId === comment.id);
      return { kind: 'comment', at: comment.createdAt, comment, replies };
    });
  const activity = roots
    .map((root) => ({ ...root, nodes: root.nodes.filter(isShown) }))
    .filter(({ nodes }) => nodes.some((node) => kind !== 'activity' || node.kind === 'event'))
    .map((root): Entry => ({ kind: 'root', at: root.at, root }));
  const chosen = [...(showsComments(kind) ? threads : []), ...(kind === 'comments' ? [] : activity)];
  return chosen.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
}
