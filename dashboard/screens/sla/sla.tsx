import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SlaClock } from '@tatami/sdk/client';
import { useEffect, useState, type ReactNode } from 'react';
import { useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectField } from '../../parts/fields.tsx';
import { Bar, Empty, Failed, Loading, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/planning.ts';
import { durationOf, minuteMs } from './duration.ts';
import { Policies } from './policies.tsx';

export default function Sla(): ReactNode {
  const client = useClient();
  const teams = useTeams();
  const [state, setState] = useState('');
  const [team, setTeam] = useState('');
  const clocks = useInfiniteQuery({
    queryKey: ['sla', 'clocks', state, team],
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam }) =>
      client.sla.clocks({
        limit: 100,
        ...(state !== '' && { state: state as SlaClock['state'] }),
        ...(team !== '' && { team }),
        ...(pageParam !== null && { after: pageParam }),
      }),
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
  });
  const rows = clocks.data?.pages.flatMap(({ data }) => data);
  const filters = (
    <Bar label={text.status}>
      <SelectField
        label={text.status}
        value={state}
        options={[['', text.allStates], ...Object.entries(text.clockStates)]}
        onPick={setState}
      />
      <SelectField
        label={text.team}
        value={team}
        options={[['', text.allTeams], ...teams.map(({ key, name }) => [key, name] as const)]}
        onPick={setTeam}
      />
    </Bar>
  );
  return (
    <Screen title={text.sla} bars={filters}>
      <div className="stack">
        {clocks.error && <Failed error={clocks.error} retry={() => void clocks.refetch()} />}
        {!rows && !clocks.error && <Loading />}
        {rows?.length === 0 && <Empty title={text.noClocks} hint={text.noClocksHint} />}
        {rows && rows.length > 0 && <Clocks clocks={rows} />}
        {clocks.hasNextPage && <Button onClick={() => void clocks.fetchNextPage()}>{common.loadMore}</Button>}
        <Policies />
      </div>
    </Screen>
  );
}

function Clocks({ clocks }: { readonly clocks: readonly SlaClock[] }): ReactNode {
  return (
    <table aria-label={text.sla}>
      <thead>
        <tr>
          <th scope="col">{text.issue}</th>
          <th scope="col">{text.clock}</th>
          <th scope="col">{text.status}</th>
          <th scope="col">{text.left}</th>
          <th scope="col">{text.policy}</th>
          <th scope="col">{text.assignee}</th>
        </tr>
      </thead>
      <tbody>
        {clocks.map(({ id, issue, kind, state, dueAt, policy, assignee }) => (
          <tr key={id}>
            <th scope="row">
              <Link to="/issues/$identifier" params={{ identifier: issue.identifier ?? issue.id }}>
                {issue.identifier} {issue.title}
              </Link>
            </th>
            <td>{text.clockKinds[kind]}</td>
            <td>{text.clockStates[state]}</td>
            <td>{dueAt !== null && <Countdown dueAt={dueAt} />}</td>
            <td>{policy.name}</td>
            <td>{assignee?.name ?? common.noAssignee}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Time left, which moves on each minute. */
function Countdown({ dueAt }: { readonly dueAt: string }): ReactNode {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), minuteMs);
    return () => clearInterval(timer);
  }, []);
  const leftMs = Date.parse(dueAt) - now;
  const words = durationOf(Math.abs(leftMs));
  return (
    <span title={dueAt}>
      {leftMs < 0 ? text.late(words) : words} (<Time at={dueAt} />)
    </span>
  );
}
