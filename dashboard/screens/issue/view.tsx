// An issue with its fields, parts and timeline: as a page, and as a panel beside a list.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Issue } from '@tatami/sdk/client';
import { useEffect, useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { changeIssue } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failed, FailedScreen, Loading } from '../../parts/states.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issue.ts';
import { Star } from '../favorites/star.tsx';
import { IssueActions } from './actions.tsx';
import { Attachments } from './attachments.tsx';
import { Description } from './description.tsx';
import { IssueFields } from './fields.tsx';
import { IssueImages } from './images.tsx';
import { Relations } from './relations.tsx';
import { SubIssues } from './sub-issues.tsx';
import { Timeline } from './timeline.tsx';
import styles from './issue.module.css';

interface IssueViewProps {
  readonly identifier: string;
  readonly isPage: boolean;
  readonly onClose?: () => void;
}

export function IssueView({ identifier, isPage, onClose }: IssueViewProps): ReactNode {
  const client = useClient();
  const issue = useQuery({
    queryKey: ['issues', 'one', identifier],
    queryFn: () => client.issues.get(identifier),
  });
  const title = issue.data?.title;
  useEffect(() => {
    if (isPage && title !== undefined) document.title = `${identifier} ${title} · ${common.product}`;
  }, [isPage, identifier, title]);
  if (issue.error) {
    const Failure = isPage ? FailedScreen : Failed;
    return <Failure error={issue.error} retry={() => void issue.refetch()} />;
  }
  if (!issue.data) return <Loading />;
  return (
    <article className={styles.issue} data-page={isPage}>
      <header className={`${styles.head} row wrap`}>
        <span className="grow">
          {isPage ? (
            identifier
          ) : (
            <Link to="/issues/$identifier" params={{ identifier }}>
              {identifier}
            </Link>
          )}
        </span>
        <Star type="issue" id={issue.data.id} />
        <IssueActions issue={issue.data} />
        {onClose && (
          <Button look="plain" isIcon aria-label={common.close} onClick={onClose}>
            <Icon name="close" />
          </Button>
        )}
      </header>
      <div className={styles.body} key={issue.data.id}>
        <TitleField issue={issue.data} isPage={isPage} />
        <div className={`${styles.content} stack`}>
          <IssueImages issue={issue.data}>
            <Description issue={issue.data} />
            <SubIssues issue={issue.data} />
            <Relations issue={issue.data} />
            <Attachments issue={issue.data} />
            <Timeline issue={issue.data} isPage={isPage} />
          </IssueImages>
        </div>
        <IssueFields issue={issue.data} hasShortcuts={isPage} />
      </div>
    </article>
  );
}

/**
 * Title that is edited in place: Enter or leaving the field saves, Escape takes the edit back. A title that is being
 * typed stays while somebody else renames the issue, and if it cannot be saved.
 */
function TitleField({ issue, isPage }: { readonly issue: Issue; readonly isPage: boolean }): ReactNode {
  const client = useClient();
  const [edit, setEdit] = useState<string | null>(null);
  const shown = edit ?? issue.title;
  const save = async (): Promise<void> => {
    const title = edit?.trim() ?? '';
    if (title === '' || title === issue.title) return setEdit(null);
    if (await changeIssue(client, { issue, patch: { title }, draft: { title } })) setEdit(null);
  };
  return (
    <div className={styles.title} data-text={shown}>
      {isPage ? <h1 className="only-read">{issue.title}</h1> : <h2 className="only-read">{issue.title}</h2>}
      <textarea
        aria-label={text.editTitle}
        rows={1}
        value={shown}
        maxLength={500}
        onChange={({ target }) => setEdit(target.value.replaceAll(/\s*\n\s*/g, ' '))}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur();
          if (event.key !== 'Escape' || edit === null) return;
          // Escape would also close the panel.
          event.stopPropagation();
          setEdit(null);
        }}
      />
    </div>
  );
}
