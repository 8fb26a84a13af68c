import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ApiCallError, type Board } from '@tatami/sdk/client';
import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react';
import { useClient, useMay } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyLink } from '../../parts/copy-link.tsx';
import { Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/boards.ts';
import { Star } from '../favorites/star.tsx';
import { Peek } from '../issue/peek.tsx';
import { Columns } from './columns.tsx';
import { storedBoard, useBoard, type OpenBoard } from './data.ts';
import type { BoardState } from './model.ts';
import { BoardContext } from './quick-create.tsx';

const BoardSettings = lazy(() => import('./settings.tsx').then((file) => ({ default: file.BoardSettings })));

export default function BoardScreen(): ReactNode {
  const { id } = useParams({ from: '/boards/$id' });
  const client = useClient();
  const board = useQuery({ queryKey: ['boards', id], queryFn: () => client.boards.get(id) });
  const isManual = board.data?.sort === 'manual';
  const open = useBoard(useMemo(() => storedBoard(id, isManual), [id, isManual]));
  // A board that was read stays while the server does not answer, but not once it is deleted.
  const isGone = board.error instanceof ApiCallError && board.error.status === 404;
  const error = (board.data && !isGone ? null : board.error) ?? (open.state ? null : open.error);
  if (error) return <FailedScreen error={error} retry={open.retry} />;
  if (!board.data || !open.state) return <Loading />;
  return <Loaded board={board.data} open={open} state={open.state} />;
}

interface LoadedProps {
  readonly board: Board;
  readonly open: OpenBoard;
  readonly state: BoardState;
}

function Loaded({ board, open, state }: LoadedProps): ReactNode {
  const [isEditing, setEditing] = useState(false);
  const isEmpty = state.columns.every(({ count }) => count === 0);
  const mayChange = useMay('boards:write');
  const actions = (
    <>
      <Star type="board" id={board.id} />
      <CopyLink url={board.url} />
      {mayChange && <Button onClick={() => setEditing(true)}>{text.settings}</Button>}
    </>
  );
  return (
    <Screen title={board.name} actions={actions} scrollsItself>
      {isEmpty && <Empty title={text.emptyBoard} hint={text.emptyBoardHint} />}
      {state.elsewhere > 0 && <p className="notice">{text.elsewhere(state.elsewhere)}</p>}
      <BoardContext value={board}>
        <Columns
          open={open}
          state={state}
          isManual={board.sort === 'manual'}
          mayMove={mayChange}
          peek={(onClose) => <BoardPeek onClose={onClose} />}
        />
      </BoardContext>
      <Suspense fallback={null}>
        {isEditing && mayChange && (
          <BoardSettings board={board} columns={state.columns} onClose={() => setEditing(false)} />
        )}
      </Suspense>
    </Screen>
  );
}

function BoardPeek({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { peek } = useSearch({ from: '/boards/$id' });
  const navigate = useNavigate();
  if (peek === undefined) return null;
  const close = (): void => void navigate({ to: '.', search: {} }).then(onClose);
  return <Peek identifier={peek} onClose={close} />;
}
