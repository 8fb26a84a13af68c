import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Issue } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useTeams } from '../../data/directory.ts';
import { queryClient, useClient, useSession } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { copyText } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/overlay/menu.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issue.ts';

export function IssueActions({ issue }: { readonly issue: Issue }): ReactNode {
  const write = useWrite();
  const navigate = useNavigate();
  const teams = useTeams().filter(({ id }) => id !== issue.team.id);
  const name = issue.identifier ?? issue.id;
  const remove = async (): Promise<void> => {
    const isDeleted = await write(async (client) => {
      await client.issues.delete(issue.id);
      return true;
    });
    if (!isDeleted) return;
    notify(text.deleted(name), {
      label: common.undo,
      run: () => void write((client) => client.issues.restore(issue.id), text.restored(name)),
    });
    void navigate({ to: '/issues' });
  };
  const move = async (team: string): Promise<void> => {
    const moved = await write((client) => client.issues.move(issue.id, { team }));
    if (moved)
      void navigate({ to: '/issues/$identifier', params: { identifier: moved.identifier ?? moved.id } });
  };
  return (
    <>
      <Subscription issue={issue} />
      {teams.length > 0 && (
        <Menu button={text.moveTo}>
          {teams.map(({ key, name: team }) => (
            <MenuItem key={key} onSelect={() => void move(key)}>
              {team}
            </MenuItem>
          ))}
        </Menu>
      )}
      <Menu label={common.more} button={<Icon name="more" />} look="plain">
        <MenuItem onSelect={() => void copyText(issue.url ?? location.href, common.linkCopied)}>
          {common.copyLink}
        </MenuItem>
        <MenuItem onSelect={() => void remove()}>{text.deleteIssue}</MenuItem>
      </Menu>
    </>
  );
}

function Subscription({ issue }: { readonly issue: Issue }): ReactNode {
  const client = useClient();
  const write = useWrite();
  const { member } = useSession();
  const key = ['issues', 'subscribers', issue.id];
  const { data } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => Array.fromAsync(client.subscribers.list(issue.id, { limit: 100 }, { signal })),
    meta: { follows: [issue.id] },
  });
  if (!data) return null;
  const isSubscribed = data.some((one) => one.member.id === member.id);
  const toggle = async (): Promise<void> => {
    await write(async (api) => {
      if (isSubscribed) await api.subscribers.remove(issue.id, member.id);
      else await api.subscribers.add(issue.id, member.id);
    });
    await queryClient.invalidateQueries({ queryKey: key });
  };
  return (
    <Button
      look="plain"
      aria-pressed={isSubscribed}
      title={text.subscribers(data.length)}
      onClick={() => void toggle()}
    >
      {isSubscribed ? text.unsubscribe : text.subscribe}
    </Button>
  );
}
