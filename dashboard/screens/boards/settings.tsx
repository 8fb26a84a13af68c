// Dialogs that create a board and change its settings.
import { useQuery } from '@tanstack/react-query';
import type { Board, BoardCreate } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { fieldError, Form, SelectField, TextArea, TextField, textOf } from '../../parts/fields.tsx';
import { text } from '../../text/boards.ts';
import { text as common } from '../../text/common.ts';
import type { Column } from './model.ts';

type Draft = Pick<Board, 'name' | 'team' | 'groupBy' | 'swimlanes' | 'sort' | 'limits' | 'filter'>;

const fresh: Draft = {
  name: '',
  team: null,
  groupBy: 'stateType',
  swimlanes: null,
  sort: 'manual',
  limits: 'soft',
  filter: {},
};

/** Reads the filter of the form. @throws ApiCallError for text that is not a JSON object */
function filterOf(value: string): Readonly<Record<string, unknown>> {
  if (value === '') return {};
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(value);
  } catch {
    // The message below explains both cases.
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw fieldError('filter', text.badFilter);
  return parsed as Readonly<Record<string, unknown>>;
}

/** @throws ApiCallError if the filter is wrong */
function settingsOf(fields: FormData): Omit<BoardCreate, 'columns'> {
  const optional = (name: string): string | null => textOf(fields, name) || null;
  return {
    name: textOf(fields, 'name'),
    team: optional('team'),
    groupBy: textOf(fields, 'groupBy'),
    swimlanes: optional('swimlanes'),
    sort: textOf(fields, 'sort'),
    limits: textOf(fields, 'limits') === 'hard' ? 'hard' : 'soft',
    filter: filterOf(textOf(fields, 'filter')),
  };
}

export function NewBoard({ onClose }: { readonly onClose: (board: Board | null) => void }): ReactNode {
  const client = useClient();
  // The form must not close after the board opened.
  const create = async (fields: FormData): Promise<null> => {
    onClose(await client.boards.create(settingsOf(fields)));
    return null;
  };
  return (
    <Dialog title={text.newBoard} isOpen onClose={() => onClose(null)}>
      <Form submit={text.newBoard} onSubmit={create} onDone={() => onClose(null)}>
        <SettingFields draft={fresh} />
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
  const save = async (fields: FormData): Promise<void> => {
    const body = settingsOf(fields);
    const own = body.groupBy === board.groupBy ? columnsOf(fields, board, columns) : null;
    await client.boards.update(board.id, { ...body, columns: own });
  };
  return (
    <Dialog title={text.settingsOf(board.name)} isOpen onClose={onClose}>
      <Form submit={common.save} onSubmit={save} onDone={onClose}>
        <SettingFields draft={board} />
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
      <FilterField filter={draft.filter} />
    </>
  );
}

function FilterField({ filter }: { readonly filter: Draft['filter'] }): ReactNode {
  const client = useClient();
  const views = useQuery({
    queryKey: ['views', 'all'],
    queryFn: () => Array.fromAsync(client.views.list({ limit: 100 })),
  });
  const [value, setValue] = useState(() => JSON.stringify(filter));
  return (
    <>
      {views.data && views.data.length > 0 && (
        <SelectField
          label={text.filterOfView}
          value=""
          options={[['', text.chooseView], ...views.data.map(({ id, name }): Option => [id, name])]}
          onPick={(id) => {
            const view = views.data.find((one) => one.id === id);
            if (view) setValue(JSON.stringify(view.filter));
          }}
        />
      )}
      <TextArea
        label={text.filter}
        name="filter"
        rows={2}
        value={value}
        onChange={({ target }) => setValue(target.value)}
        aria-describedby="filter-hint"
      />
      <p id="filter-hint" className="soft">
        {text.filterHint}
      </p>
    </>
  );
}
