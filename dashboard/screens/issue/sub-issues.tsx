import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Issue } from '@tatami/sdk/client';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { ProgressBar } from '../../parts/chart.tsx';
import { Icon } from '../../parts/icon.tsx';
import { StateIcon } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/issue.ts';
import { openCreate } from '../create/create.tsx';
import styles from './issue.module.css';

export function SubIssues({ issue }: { readonly issue: Issue }): ReactNode {
  const { data, move } = useSubIssues(issue.id);
  const done = data.filter(({ state }) => state.type === 'completed').length;
  const { list, dropAt } = useDrag(
    data.map(({ id }) => id),
    (from, to) => void move(from, to),
  );
  return (
    <section className="stack">
      <div className="row wrap">
        <h2 className="grow">{text.subIssues}</h2>
        {data.length > 0 && <ProgressBar done={done} all={data.length} />}
        <Button look="plain" onClick={() => openCreate({ parent: issue, team: issue.team.key })}>
          {text.addSubIssue}
        </Button>
      </div>
      <ul ref={list} aria-label={text.subIssues} className={styles.subs} data-drop={dropAt === data.length}>
        {data.map(({ id, identifier, title, state }, index) => (
          <li key={id} className="row" data-drop={dropAt === index}>
            <StateIcon type={state.type} name={state.name} />
            <Link
              className="grow cut"
              to="/issues/$identifier"
              params={{ identifier: identifier ?? id }}
              draggable={false}
            >
              {identifier} {title}
            </Link>
            <MoveButton
              to="up"
              label={text.moveUp(identifier ?? id)}
              disabled={index === 0}
              onClick={() => void move(index, index - 1)}
            />
            <MoveButton
              to="down"
              label={text.moveDown(identifier ?? id)}
              disabled={index === data.length - 1}
              onClick={() => void move(index, index + 1)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function useSubIssues(parentId: string) {
  const client = useClient();
  const write = useWrite();
  const key = ['issues', 'sub-issues', parentId];
  const { data = [] } = useQuery({
    queryKey: key,
    queryFn: () => Array.fromAsync(client.issues.list({ parent: parentId, sort: 'subOrder', limit: 100 })),
  });
  const move = async (from: number, to: number): Promise<void> => {
    const moved = data[from];
    if (!moved || from === to) return;
    const others = data.toSpliced(from, 1);
    const after = others[to - 1];
    queryClient.setQueryData(key, others.toSpliced(to, 0, moved));
    await write((api) =>
      api.issues.reorder(moved.id, after ? { after: after.id } : { before: others[0]!.id }),
    );
    await queryClient.invalidateQueries({ queryKey: key });
  };
  return { data, move };
}

interface MoveButtonProps {
  readonly to: 'up' | 'down';
  readonly label: string;
  readonly disabled: boolean;
  readonly onClick: () => void;
}

function MoveButton({ to, label, ...props }: MoveButtonProps): ReactNode {
  return (
    <Button look="plain" isIcon aria-label={label} {...props}>
      <Icon name={to} />
    </Button>
  );
}

/** Lets a person drag the items of a list. @returns the index before which the dragged item would be placed */
function useDrag(ids: readonly string[], move: (from: number, to: number) => void) {
  const list = useRef<HTMLUListElement>(null);
  const [dropAt, setDropAt] = useState<number | null>(null);
  const current = useRef({ ids, move });
  current.current = { ids, move };
  const order = ids.join(' ');
  useEffect(() => {
    let end: (() => void) | null = null;
    let isOver = false;
    const drop = (id: string, at: number): void => {
      const from = current.current.ids.indexOf(id);
      current.current.move(from, from < at ? at - 1 : at);
    };
    const start = async (): Promise<void> => {
      const { sortable } = await import('./sortable.ts');
      if (!isOver) end = sortable(list.current!, order.split(' '), { onOver: setDropAt, onDrop: drop });
    };
    // Without the script, the buttons still move the items.
    if (order.includes(' ')) start().catch(() => undefined);
    return () => {
      isOver = true;
      end?.();
    };
  }, [order]);
  return { list, dropAt };
}
