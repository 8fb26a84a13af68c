import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { text } from '../../text/issue.ts';

const offered = ['👍', '👎', '🎉', '❤️', '😄', '😕', '🚀', '👀'];

export function Reactions({ commentId }: { readonly commentId: string }): ReactNode {
  const client = useClient();
  const write = useWrite();
  const key = ['reactions', commentId];
  const { data } = useQuery({ queryKey: key, queryFn: () => client.reactions.list(commentId) });
  const toggle = async (emoji: string, mine: string | null): Promise<void> => {
    await write(async (api) => {
      if (mine === null) await api.reactions.create(commentId, { emoji });
      else await api.reactions.delete(mine);
    });
    await queryClient.invalidateQueries({ queryKey: key });
  };
  return (
    <div className="row wrap">
      {data?.data.map(({ emoji, count, mine, who }) => (
        <Button
          key={emoji}
          look="plain"
          aria-pressed={mine !== null}
          aria-label={text.reaction(emoji, count, who.map(({ name }) => name).join(', '))}
          onClick={() => void toggle(emoji, mine)}
        >
          {emoji} {count}
        </Button>
      ))}
      <Menu button="☺" label={text.react} look="plain">
        {offered.map((emoji) => (
          <MenuItem
            key={emoji}
            onSelect={() => void toggle(emoji, data?.data.find((one) => one.emoji === emoji)?.mine ?? null)}
          >
            {emoji}
          </MenuItem>
        ))}
      </Menu>
    </div>
  );
}
