import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Board } from '@tatami/sdk/client';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useTeams } from '../../data/directory.ts';
import { queryClient, useClient, useMay } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, TextField, textOf } from '../../parts/fields.tsx';
import { Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/boards.ts';

const NewBoard = lazy(() => import('./settings.tsx').then((file) => ({ default: file.NewBoard })));

const listKey = ['boards', 'all'];

export default function Boards(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const client = useClient();
  const navigate = useNavigate();
  const boards = useQuery({
    queryKey: listKey,
    queryFn: () => Array.fromAsync(client.boards.list({ limit: 100 })),
  });
  const mayChange = useMay('boards:write');
  if (boards.error && !boards.data)
    return <FailedScreen error={boards.error} retry={() => void boards.refetch()} />;
  const create = mayChange && (
    <Button look="primary" onClick={() => setOpen(true)}>
      {text.newBoard}
    </Button>
  );
  const close = (board: Board | null): void => {
    setOpen(false);
    if (board) void navigate({ to: '/boards/$id', params: { id: board.id } });
  };
  return (
    <Screen title={text.boards} actions={create}>
      {!boards.data && <Loading />}
      {boards.data?.length === 0 && <Empty title={text.noBoards} hint={text.noBoardsHint} />}
      {boards.data && boards.data.length > 0 && (
        <ul aria-label={text.boards} className="stack">
          {boards.data.map((board) => (
            <BoardRow key={board.id} board={board} />
          ))}
        </ul>
      )}
      <Suspense fallback={null}>{isOpen && <NewBoard onClose={close} />}</Suspense>
    </Screen>
  );
}

function BoardRow({ board }: { readonly board: Board }): ReactNode {
  const client = useClient();
  const teams = useTeams();
  const write = useWrite();
  const mayChange = useMay('boards:write');
  const [isRenaming, setRenaming] = useState(false);
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: listKey });
  const restore = async (): Promise<void> => {
    await write(() => client.boards.restore(board.id), text.restored(board.name));
    await refresh();
  };
  const remove = async (): Promise<void> => {
    const isDone = await write(async () => {
      await client.boards.delete(board.id);
      return true;
    });
    if (isDone) notify(text.deleted(board.name), { label: common.undo, run: () => void restore() });
    await refresh();
  };
  const rename = (fields: FormData): Promise<unknown> =>
    client.boards.update(board.id, { name: textOf(fields, 'name') });
  const team = teams.find(({ key }) => key === board.team)?.name ?? board.team ?? text.allTeams;
  const grouping = (text.groupings as Readonly<Record<string, string>>)[board.groupBy] ?? board.groupBy;
  return (
    <li className="card row wrap">
      <span className="grow">
        <Link to="/boards/$id" params={{ id: board.id }}>
          {board.name}
        </Link>
        <span className="soft">
          {' '}
          {team} · {grouping}
        </span>
      </span>
      {mayChange && (
        <>
          <Button look="plain" aria-label={`${text.rename}: ${board.name}`} onClick={() => setRenaming(true)}>
            {text.rename}
          </Button>
          <Button look="plain" aria-label={`${common.delete}: ${board.name}`} onClick={() => void remove()}>
            {common.delete}
          </Button>
        </>
      )}
      {isRenaming && (
        <Dialog title={text.rename} isOpen onClose={() => setRenaming(false)}>
          <Form submit={text.rename} onSubmit={rename} onDone={() => setRenaming(false)}>
            <TextField label={text.name} name="name" defaultValue={board.name} required maxLength={120} />
          </Form>
        </Dialog>
      )}
    </li>
  );
}
