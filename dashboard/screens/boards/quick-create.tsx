// Creates an issue in a column.
import type { Board, IssueCreate } from '@tatami/sdk/client';
import { createContext, use, useState, type ReactNode } from 'react';
import { useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text } from '../../text/boards.ts';
import { fieldsOf, type Column } from './model.ts';

/** Fields of new issues; null where the cards do not show what is created. */
export const BoardContext = createContext<Pick<Board, 'team' | 'groupBy'> | null>(null);

export function QuickCreate({ column }: { readonly column: Column }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const board = use(BoardContext);
  if (!board) return null;
  return (
    <>
      <Button look="plain" isIcon aria-label={text.addTo(column.title)} onClick={() => setOpen(true)}>
        +
      </Button>
      {isOpen && <CreateDialog board={board} column={column} onClose={() => setOpen(false)} />}
    </>
  );
}

interface CreateProps {
  readonly board: Pick<Board, 'team' | 'groupBy'>;
  readonly column: Column;
  readonly onClose: () => void;
}

function CreateDialog({ board, column, onClose }: CreateProps): ReactNode {
  const client = useClient();
  const teams = useTeams();
  const [picked, setPicked] = useState('');
  const team = board.team ?? (picked === '' ? teams[0]?.key : picked);
  const create = async (fields: FormData): Promise<void> => {
    const body = { title: textOf(fields, 'title'), team, ...fieldsOf(board.groupBy, column.value) };
    const issue = await client.issues.create(body as IssueCreate);
    notify(text.created(issue.identifier ?? ''));
  };
  return (
    <Dialog title={text.addTo(column.title)} isOpen onClose={onClose}>
      <Form submit={text.addTo(column.title)} onSubmit={create} onDone={onClose}>
        <TextField label={text.title} name="title" required maxLength={500} />
        {board.team === null && (
          <SelectField
            label={text.team}
            name="team"
            value={team ?? ''}
            options={teams.map(({ key, name }) => [key, name])}
            onPick={setPicked}
          />
        )}
      </Form>
    </Dialog>
  );
}
