import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { AuditEntry, AuditLogQuery } from '@tatami/sdk/client';
import { EVENT_TYPES } from '@tatami/sdk/webhooks';
import type { ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/fields.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Bar, Empty, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/developers.ts';
import { useAuditExport } from './export.ts';
import { isReversed, timesOf, type Days } from './range.ts';

interface AuditSearch extends Days {
  readonly actor?: string;
  readonly target?: string;
  readonly action?: string;
}

const noPage = { data: [], pageInfo: { hasNextPage: false, endCursor: null } };

export default function AuditLog(): ReactNode {
  const client = useClient();
  const navigate = useNavigate();
  const search: AuditSearch = useSearch({ from: '/audit-log' });
  const { from, to, ...filters } = search;
  const query = { ...filters, ...timesOf({ from, to }) } as AuditLogQuery;
  const isEmpty = isReversed(search);
  const entries = usePages(['audit-log', search], async (after) =>
    isEmpty ? noPage : client.auditLog.list({ ...query, limit: 100, ...after }),
  );
  const set = (part: AuditSearch): void => {
    const next = Object.entries({ ...search, ...part }).filter(([, value]) => value !== '');
    void navigate({ to: '/audit-log', search: Object.fromEntries(next), replace: true });
  };
  return (
    <Screen
      title={text.auditLog}
      actions={<Export query={query} />}
      bars={<Filters search={search} onChange={set} />}
    >
      <Paged
        pages={entries}
        empty={
          isEmpty ? (
            <Empty title={text.reversedDays} hint={text.reversedDaysHint} />
          ) : (
            <Empty title={text.noEntries} hint={text.noEntriesHint} />
          )
        }
      >
        {(items) => <Entries entries={items} />}
      </Paged>
    </Screen>
  );
}

interface FiltersProps {
  readonly search: AuditSearch;
  readonly onChange: (part: AuditSearch) => void;
}

function Filters({ search, onChange }: FiltersProps): ReactNode {
  return (
    <Bar label={text.filter}>
      <SelectField
        label={text.action}
        value={search.action ?? ''}
        options={[['', text.all], ...EVENT_TYPES.map((type) => [type, type] as const)]}
        onPick={(action) => onChange({ action })}
      />
      <TextField
        label={text.actor}
        defaultValue={search.actor}
        onBlur={({ target }) => onChange({ actor: target.value.trim() })}
      />
      <TextField
        label={text.target}
        defaultValue={search.target}
        onBlur={({ target }) => onChange({ target: target.value.trim() })}
      />
      <DayField label={text.from} day={search.from} max={search.to} onPick={(from) => onChange({ from })} />
      <DayField label={text.to} day={search.to} min={search.from} onPick={(to) => onChange({ to })} />
    </Bar>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly day: string | undefined;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly onPick: (day: string) => void;
}

function DayField({ label, day, onPick, ...bounds }: DayFieldProps): ReactNode {
  return (
    <TextField
      type="date"
      label={label}
      defaultValue={day}
      onBlur={({ target }) => onPick(target.value)}
      {...bounds}
    />
  );
}

function Export({ query }: { readonly query: AuditLogQuery }): ReactNode {
  const { count, start, cancel } = useAuditExport(query);
  if (count !== null)
    return (
      <>
        <span role="status">{text.exporting(count)}</span>
        <Button onClick={cancel}>{common.cancel}</Button>
      </>
    );
  return (
    <>
      <Button onClick={() => void start('csv')}>{text.exportCsv}</Button>
      <Button onClick={() => void start('json')}>{text.exportJson}</Button>
    </>
  );
}

function Entries({ entries }: { readonly entries: readonly AuditEntry[] }): ReactNode {
  return (
    <div className="wide-table">
      <table aria-label={text.auditLog}>
        <thead>
          <tr>
            <th scope="col">{text.time}</th>
            <th scope="col">{text.actor}</th>
            <th scope="col">{text.action}</th>
            <th scope="col">{text.target}</th>
            <th scope="col">{text.changes}</th>
            <th scope="col">{text.request}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(({ id, at, actor, action, target, details, requestId }) => (
            <tr key={id}>
              <td>
                <Time at={at} />
              </td>
              <td>{actor.name}</td>
              <td>
                <code>{action}</code>
              </td>
              <td>
                <Target target={target} />
              </td>
              <td>{details?.changed.join(', ')}</td>
              <td>
                <code>{requestId}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Screens that show one object. */
const screens = {
  issue: '/issues/$identifier',
  project: '/projects/$id',
  cycle: '/cycles/$id',
  board: '/boards/$id',
  view: '/views/$id',
  release: '/releases/$id',
  webhook: '/webhooks/$id',
  proposal: '/proposals/$id',
} as const;

function Target({ target: { kind, id } }: Pick<AuditEntry, 'target'>): ReactNode {
  const shown = <code>{id}</code>;
  if (!(kind in screens)) return shown;
  return (
    <Link to={screens[kind as keyof typeof screens]} params={{ id, identifier: id }}>
      {shown}
    </Link>
  );
}
