import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Issue } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { ProgressBar } from '../../parts/chart.tsx';
import { Icon } from '../../parts/icon.tsx';
import { StateIcon } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/issue.ts';
import { openCreate } from '../create/create.tsx';

export function SubIssues({ issue }: { readonly issue: Issue }): ReactNode {
  const client = useClient();
  const write = useWrite();
  const key = ['issues', 'sub-issues', issue.id];
  const { data = [] } = useQuery({
    queryKey: key,
    queryFn: () => Array.fromAsync(client.issues.list({ parent: issue.id, sort: 'subOrder', limit: 100 })),
  });
  const done = data.filter(({ state }) => state.type === 'completed').length;
  /** Moves a sub-issue by one place. */
  const move = async (index: number, by: -1 | 1): Promise<void> => {
    const moved = data[index]!;
    const others = data.toSpliced(index, 1);
    const after = others[index + by - 1];
    await write((api) =>
      api.issues.reorder(moved.id, after ? { after: after.id } : { before: others[0]!.id }),
    );
    await queryClient.invalidateQueries({ queryKey: key });
  };
  return (
    <section className="stack">
      <div className="row wrap">
        <h2 className="grow">{text.subIssues}</h2>
        {data.length > 0 && <ProgressBar done={done} all={data.length} />}
        <Button look="plain" onClick={() => openCreate({ parent: issue, team: issue.team.key })}>
          {text.addSubIssue}
        </Button>
      </div>
      <ul aria-label={text.subIssues}>
        {data.map(({ id, identifier, title, state }, index) => (
          <li key={id} className="row">
            <StateIcon type={state.type} name={state.name} />
            <Link className="grow cut" to="/issues/$identifier" params={{ identifier: identifier ?? id }}>
              {identifier} {title}
            </Link>
            <Button
              look="plain"
              isIcon
              disabled={index === 0}
              aria-label={text.moveUp(identifier ?? id)}
              onClick={() => void move(index, -1)}
            >
              <Icon name="up" />
            </Button>
            <Button
              look="plain"
              isIcon
              disabled={index === data.length - 1}
              aria-label={text.moveDown(identifier ?? id)}
              onClick={() => void move(index, 1)}
            >
              <Icon name="down" />
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
