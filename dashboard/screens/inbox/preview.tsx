// The notification that is chosen, with its actions and its issue.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { InboxItem, InboxItemPatch } from '@tatami/sdk/client';
import { useEffect, useState, type ReactNode } from 'react';
import { replaceObject } from '../../data/live.ts';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { Failed, Loading } from '../../parts/states.tsx';
import { PriorityIcon, StateIcon } from '../../parts/issue/symbols.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/inbox.ts';
import { text as snoozes } from '../../text/triage.ts';
import { ChoiceDialog } from '../triage/dialogs.tsx';
import { snoozeTimes } from '../triage/search.ts';
import styles from './inbox.module.css';

export function Preview(): ReactNode {
  const client = useClient();
  const { item: id } = useSearch({ from: '/inbox' });
  const item = useQuery({
    queryKey: ['inbox', 'item', id ?? ''],
    queryFn: () => client.inbox.get(id!),
    enabled: id !== undefined,
  });
  if (id === undefined) return <p className={`${styles.preview} soft`}>{text.choose}</p>;
  if (item.error) return <Failed error={item.error} />;
  if (!item.data) return <Loading />;
  return (
    <section className={styles.preview} aria-label={item.data.title}>
      <h2>{item.data.title}</h2>
      <Actions key={id} item={item.data} />
      <p className="soft">{text.reasons[item.data.reason]}</p>
      {item.data.body !== '' && <Markdown source={item.data.body} />}
      {item.data.issue && <IssuePreview id={item.data.issue.id} />}
    </section>
  );
}

/** Returns the path of the object that an item is about; null if it has no page. */
function pathOf({ issue, target }: InboxItem): string | null {
  if (issue) return `/issues/${issue.identifier ?? issue.id}`;
  const folders: Readonly<Record<string, string>> = {
    webhook: 'webhooks',
    proposal: 'proposals',
    project: 'projects',
    release: 'releases',
    cycle: 'cycles',
  };
  const folder = folders[target.kind];
  return folder === undefined ? null : `/${folder}/${target.id}`;
}

function useChange(item: InboxItem) {
  const write = useWrite();
  /** @param undo patch that an undo writes */
  return async (patch: InboxItemPatch, done?: string, undo?: InboxItemPatch): Promise<void> => {
    const send = (body: InboxItemPatch) =>
      write(async (client) => {
        const changed = await client.inbox.update(item.id, body);
        replaceObject(queryClient, 'inbox', changed);
        // The item may belong to another tab now.
        void queryClient.invalidateQueries({ queryKey: ['inbox'] });
        return changed;
      });
    const changed = await send(patch);
    if (!changed || done === undefined) return;
    const takeBack = async (body: InboxItemPatch): Promise<void> => {
      if (await send(body)) notify(text.undone);
    };
    notify(done, undo ? { label: common.undo, run: () => void takeBack(undo) } : null);
  };
}

function Actions({ item }: { readonly item: InboxItem }): ReactNode {
  const navigate = useNavigate();
  const [isSnoozing, setSnoozing] = useState(false);
  const change = useChange(item);
  const { readAt, archivedAt, snoozedUntil } = item;
  useEffect(() => {
    // An item that is shown counts as read. Later, the person may mark it as unread again.
    if (readAt === null) void change({ read: true });
  }, []);
  const archive = (): void =>
    void (archivedAt === null
      ? change({ archived: true }, text.archived, { archived: false })
      : change({ archived: false }, text.unarchived, { archived: true }));
  const snooze = (): void =>
    snoozedUntil === null ? setSnoozing(true) : void change({ snoozedUntil: null }, text.snoozeEnded);
  const toggleRead = (): void => void change({ read: readAt === null });
  const path = pathOf(item);
  const open = (): void => void (path !== null && navigate({ to: path }));
  const actions = [
    {
      key: 'Enter',
      label: item.issue?.identifier ? text.openIssue(item.issue.identifier) : text.open,
      run: open,
    },
    { key: 'E', label: archivedAt === null ? text.archive : text.unarchive, run: archive },
    { key: 'U', label: readAt === null ? text.markRead : text.markUnread, run: toggleRead },
    { key: 'H', label: snoozedUntil === null ? text.snooze : text.endSnooze, run: snooze },
  ].filter(({ run }) => run !== open || path !== null);
  useShortcuts(actions.map(({ key, label, run }) => ({ keys: key.toLowerCase(), label, run })));
  return (
    <div className="row wrap" role="group" aria-label={text.actions}>
      {actions.map(({ key, label, run }) => (
        <Button key={key} onClick={run}>
          {text.withKey(label, key)}
        </Button>
      ))}
      {isSnoozing && (
        <ChoiceDialog
          title={text.snooze}
          choices={Object.entries(snoozes.snoozes)}
          onPick={(id) => {
            const until = snoozeTimes(new Date())[id as keyof typeof snoozes.snoozes];
            void change({ snoozedUntil: until }, text.snoozed(new Date(until).toLocaleString()), {
              snoozedUntil: null,
            });
          }}
          onClose={() => setSnoozing(false)}
        />
      )}
    </div>
  );
}

function IssuePreview({ id }: { readonly id: string }): ReactNode {
  const client = useClient();
  const issue = useQuery({ queryKey: ['issues', id], queryFn: () => client.issues.get(id) });
  if (issue.error) return <Failed error={issue.error} />;
  if (!issue.data) return <Loading />;
  const { identifier, title, state, priority, assignee, description } = issue.data;
  return (
    <div className="card stack">
      <h3>
        {identifier} {title}
      </h3>
      <p className="row wrap">
        <StateIcon type={state.type} name={`${text.state}: ${state.name}`} /> {state.name}
        <PriorityIcon priority={priority} /> {common.priorities[priority]} · {text.assignee}:{' '}
        {assignee?.name ?? common.noAssignee}
      </p>
      <Markdown source={description} />
    </div>
  );
}
