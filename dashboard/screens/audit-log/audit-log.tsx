import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { AuditEntry, AuditLogQuery } from '@tatami/sdk/client';
import { EVENT_TYPES } from '@tatami/sdk/webhooks';
import type { ReactNode } from 'react';
import { useMembers } from '../../data/directory.ts';
import { usePages } from '../../data/pages.ts';
import { useClient, useSession } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/fields.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Picker, type Choice } from '../../parts/picker.tsx';
import { Bar, Empty, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text, typeName } from '../../text/developers.ts';
import { useAuditExport } from './export.ts';
import { isReversed, timesOf, type Days } from './range.ts';
import { useTargetNames } from './targets.ts';

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
      <ActorPicker actor={search.actor ?? ''} onPick={(actor) => onChange({ actor })} />
      <TextField
        label={text.targetId}
        defaultValue={search.target}
        onBlur={({ target }) => onChange({ target: target.value.trim() })}
        onKeyDown={({ key, currentTarget }) =>
          key === 'Enter' && onChange({ target: currentTarget.value.trim() })
        }
      />
      <DayField label={text.from} day={search.from} max={search.to} onPick={(from) => onChange({ from })} />
      <DayField label={text.to} day={search.to} min={search.from} onPick={(to) => onChange({ to })} />
    </Bar>
  );
}

interface ActorPickerProps {
  /** Id; empty for all actors. */
  readonly actor: string;
  readonly onPick: (actor: string) => void;
}

/** Offers members. A link can also name a key or a plugin, which is then shown by its id. */
function ActorPicker({ actor, onPick }: ActorPickerProps): ReactNode {
  const { member } = useSession();
  const members = useMembers().filter(({ id }) => id !== member.id);
  const offered: readonly Choice[] = [
    { id: '', name: text.everyActor },
    { id: member.id, name: text.me(member.name) },
    ...members,
  ];
  const isOffered = offered.some(({ id }) => id === actor);
  const choices = isOffered ? offered : [...offered, { id: actor, name: actor }];
  return (
    <div className="field">
      <span aria-hidden="true">{text.actor}</span>
      <Picker label={text.actor} value={actor} choices={choices} onPick={onPick} />
    </div>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly day: string | undefined;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly onPick: (day: string) => void;
}

/** False for a year that is being typed, such as 0020. */
const isWhole = (day: string): boolean => day === '' || day >= '1970';

function DayField({ label, day, onPick, ...bounds }: DayFieldProps): ReactNode {
  return (
    <TextField
      type="date"
      label={label}
      defaultValue={day}
      onChange={({ target }) => isWhole(target.value) && onPick(target.value)}
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
  const names = useTargetNames(entries);
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
              <td className="one-line">
                <Time at={at} />
              </td>
              <td>{actor.name}</td>
              <td>
                <code>{action}</code>
              </td>
              <td>
                <Target target={target} name={names.get(target.id) ?? null} />
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

interface TargetProps extends Pick<AuditEntry, 'target'> {
  /** Null if it is not known; the id is shown then. */
  readonly name: string | null;
}

function Target({ target: { kind, id }, name }: TargetProps): ReactNode {
  const shown = (
    <>
      {typeName(kind)} {name ?? <code>{id}</code>}
    </>
  );
  if (!(kind in screens)) return <span title={id}>{shown}</span>;
  return (
    <Link to={screens[kind as keyof typeof screens]} params={{ id, identifier: id }} title={id}>
      {shown}
    </Link>
  );
}
