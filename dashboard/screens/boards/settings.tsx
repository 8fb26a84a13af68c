// Dialogs that create a board and change its settings.
import { useQuery } from '@tanstack/react-query';
import type { Board, BoardCreate } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { FieldGroup, Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { FilterBar } from '../../parts/filter/filter-bar.tsx';
import type { FilterTree } from '../../parts/filter/filter.ts';
import { text } from '../../text/boards.ts';
import { text as common } from '../../text/common.ts';
import type { Column } from './model.ts';

type Draft = Pick<Board, 'name' | 'team' | 'groupBy' | 'swimlanes' | 'sort' | 'limits'>;

const fresh: Draft = {
  name: '',
  team: null,
  groupBy: 'stateType',
  swimlanes: null,
  sort: 'manual',
  limits: 'soft',
};

function settingsOf(fields: FormData, filter: FilterTree | undefined): Omit<BoardCreate, 'columns'> {
  const optional = (name: string): string | null => textOf(fields, name) || null;
  return {
    name: textOf(fields, 'name'),
    team: optional('team'),
    groupBy: textOf(fields, 'groupBy'),
    swimlanes: optional('swimlanes'),
    sort: textOf(fields, 'sort'),
    limits: textOf(fields, 'limits') === 'hard' ? 'hard' : 'soft',
    filter: filter ?? {},
  };
}

export function NewBoard({ onClose }: { readonly onClose: (board: Board | null) => void }): ReactNode {
  const client = useClient();
  const [filter, setFilter] = useState<FilterTree>();
  // The form must not close after the board opened.
  const create = async (fields: FormData): Promise<null> => {
    onClose(await client.boards.create(settingsOf(fields, filter)));
    return null;
  };
  return (
    <Dialog title={text.newBoard} isOpen onClose={() => onClose(null)}>
      <Form submit={text.newBoard} onSubmit={create} onDone={() => onClose(null)}>
        <SettingFields draft={fresh} />
        <FilterField filter={filter} onChange={setFilter} />
      </Form>
    </Dialog>
  );
}

interface SettingsProps {
  readonly board: Board;
  readonly columns: readonly Column[];
  readonly onClose: () => void;
}

export function BoardSettings({ board, columns, onClose }: SettingsProps): ReactNode {
  const client = useClient();
  const [filter, setFilter] = useState<FilterTree | undefined>(board.filter);
  const save = async (fields: FormData): Promise<void> => {
    const body = settingsOf(fields, filter);
    const own = body.groupBy === board.groupBy ? columnsOf(fields, board, columns) : null;
    await client.boards.update(board.id, { ...body, columns: own });
  };
  return (
    <Dialog title={text.settingsOf(board.name)} isOpen onClose={onClose}>
      <Form submit={common.save} onSubmit={save} onDone={onClose}>
        <SettingFields draft={board} />
        <FilterField filter={filter} onChange={setFilter} />
        <ColumnTable columns={columns} />
      </Form>
    </Dialog>
  );
}

/** Returns null if no column has settings, so that the board follows new states and members. */
function columnsOf(
  fields: FormData,
  board: Board,
  columns: readonly Column[],
): NonNullable<Board['columns']> | null {
  const own = columns.map(({ key, value }, index) => {
    const before = board.columns?.[index];
    const limit = textOf(fields, `limit ${key}`);
    return {
      value: before?.value ?? value,
      title: before?.title ?? null,
      limit: limit === '' ? null : Number(limit),
      hidden: fields.has(`hidden ${key}`),
    };
  });
  const isDefault = own.every(({ limit, hidden, title }) => limit === null && !hidden && title === null);
  return isDefault && board.columns === null ? null : own;
}

function ColumnTable({ columns }: { readonly columns: readonly Column[] }): ReactNode {
  return (
    <table aria-label={text.columnTable}>
      <thead>
        <tr>
          <th scope="col">{text.column}</th>
          <th scope="col">{text.limit}</th>
          <th scope="col">{text.hidden}</th>
        </tr>
      </thead>
      <tbody>
        {columns.map(({ key, title, limit, isHidden }) => (
          <tr key={key}>
            <th scope="row">{title}</th>
            <td>
              <input
                type="number"
                name={`limit ${key}`}
                min={1}
                max={100_000}
                defaultValue={limit ?? ''}
                aria-label={text.limitOf(title)}
              />
            </td>
            <td>
              <input
                type="checkbox"
                name={`hidden ${key}`}
                defaultChecked={isHidden}
                aria-label={text.hide(title)}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Option = readonly [value: string, name: string];

/** Adds the present value where it is another one, such as that of a custom field. */
function withPresent(options: readonly Option[], value: string): readonly Option[] {
  return options.some(([one]) => one === value) ? options : [...options, [value, value]];
}

const entries = (names: Readonly<Record<string, string>>): readonly Option[] => Object.entries(names);

function SettingFields({ draft }: { readonly draft: Draft }): ReactNode {
  const client = useClient();
  const teams = useTeams();
  const fields = useQuery({
    queryKey: ['fields', 'all'],
    queryFn: () => Array.fromAsync(client.fields.list({ limit: 100 })),
  });
  const ofFields = (fields.data ?? [])
    .filter(({ type }) => type === 'select' || type === 'member' || type === 'checkbox')
    .map(({ key, name }): Option => [`fields.${key}`, name]);
  const groupings = [...entries(text.groupings), ...ofFields];
  const [values, setValues] = useState({
    ...draft,
    team: draft.team ?? '',
    swimlanes: draft.swimlanes ?? '',
  });
  const select = (
    name: 'team' | 'groupBy' | 'swimlanes' | 'sort' | 'limits',
    options: readonly Option[],
  ) => ({
    name,
    value: values[name],
    options: withPresent(options, values[name]),
    onPick: (value: string) => setValues((before) => ({ ...before, [name]: value })),
  });
  return (
    <>
      <TextField label={text.name} name="name" defaultValue={draft.name} required maxLength={120} />
      <SelectField
        label={text.team}
        {...select('team', [['', text.allTeams], ...teams.map(({ key, name }): Option => [key, name])])}
      />
      <SelectField label={text.groupBy} {...select('groupBy', groupings)} />
      <SelectField
        label={text.lanes}
        {...select('swimlanes', [['', text.noLanes], ...groupings.filter(([value]) => value !== 'label')])}
      />
      <SelectField label={text.order} {...select('sort', entries(text.orders))} />
      <SelectField label={text.limits} {...select('limits', entries(text.limitModes))} />
    </>
  );
}

interface FilterFieldProps {
  readonly filter: FilterTree | undefined;
  readonly onChange: (filter: FilterTree | undefined) => void;
}

function FilterField({ filter, onChange }: FilterFieldProps): ReactNode {
  const client = useClient();
  const { data: views = [] } = useQuery({
    queryKey: ['views', 'all'],
    queryFn: () => Array.fromAsync(client.views.list({ limit: 100 })),
  });
  return (
    <FieldGroup label={text.filter} name="filter">
      <FilterBar filter={filter} onChange={onChange} />
      {views.length > 0 && (
        <SelectField
          label={text.filterOfView}
          value=""
          options={[['', text.chooseView], ...views.map(({ id, name }): Option => [id, name])]}
          onPick={(id) => onChange(views.find((one) => one.id === id)?.filter)}
        />
      )}
    </FieldGroup>
  );
}
