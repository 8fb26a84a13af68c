import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../../data/provider.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { Bar, Empty } from '../../parts/states.tsx';
import { text } from '../../text/issues.ts';
import type { FilterTree } from '../../parts/filter/filter.ts';
import { ListScreen } from './list-screen.tsx';
import { mineParts, type IssueSearch, type Mine } from './search.ts';

const open = { nin: ['completed', 'canceled', 'duplicate'] };

export default function MyIssues(): ReactNode {
  const search: IssueSearch = useSearch({ from: '/my-issues' });
  const { member } = useSession();
  const part: Mine = search.mine ?? 'assigned';
  const filters: Readonly<Record<Mine, FilterTree | undefined>> = {
    assigned: { assignee: member.id, state: open },
    created: { creator: member.id },
    subscribed: undefined,
  };
  const tabs = (
    <Bar label={text.parts}>
      {mineParts.map((one) => (
        <Link
          key={one}
          to="/my-issues"
          search={{ mine: one, ...(search.layout && { layout: search.layout }) }}
          className={buttonClass(one === part ? {} : { look: 'plain' })}
          aria-current={one === part ? 'page' : undefined}
        >
          {text.mine[one]}
        </Link>
      ))}
    </Bar>
  );
  return (
    <ListScreen
      list="/my-issues"
      title={text.myIssues}
      search={search}
      {...(filters[part] && { fixed: filters[part] })}
      {...(part === 'subscribed' && { subscriber: member.id })}
      bars={tabs}
      empty={<Empty title={text.noMine} hint={text.noMineHint} />}
    />
  );
}
