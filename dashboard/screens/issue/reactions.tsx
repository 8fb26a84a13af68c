import type { ReactNode } from 'react';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Menu, MenuItem } from '../../parts/overlay/menu.tsx';
import { text } from '../../text/issue.ts';
import { refreshReactions, type ReactionGroups } from './comment-pages.ts';

const offered = ['👍', '👎', '🎉', '❤️', '😄', '😕', '🚀', '👀'];

interface ReactionsProps {
  readonly issueId: string;
  readonly commentId: string;
  readonly groups: ReactionGroups;
}

export function Reactions({ issueId, commentId, groups }: ReactionsProps): ReactNode {
  const write = useWrite();
  const toggle = async (emoji: string, mine: string | null): Promise<void> => {
    await write(async (api) => {
      if (mine === null) await api.reactions.create(commentId, { emoji });
      else await api.reactions.delete(mine);
    });
    await refreshReactions(issueId, commentId);
  };
  return (
    <div className="row wrap">
      {groups.map(({ emoji, count, mine, who }) => (
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
            onSelect={() => void toggle(emoji, groups.find((one) => one.emoji === emoji)?.mine ?? null)}
          >
            {emoji}
          </MenuItem>
        ))}
      </Menu>
    </div>
  );
}
