import { Link } from '@tanstack/react-router';
import type { Cycle } from '@tatami/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { cyclesQuery, useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/planning.ts';

const order = ['active', 'upcoming', 'completed'] as const;

export default function Cycles(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const cycles = useQuery(cyclesQuery(useClient()));
  const create = (
    <Button look="primary" onClick={() => setOpen(true)}>
      {text.newCycle}
    </Button>
  );
  if (cycles.error) return <FailedScreen error={cycles.error} retry={() => void cycles.refetch()} />;
  return (
    <Screen title={text.cycles} actions={create}>
      {!cycles.data && <Loading />}
      {cycles.data?.length === 0 && <Empty title={text.noCycles} hint={text.noCyclesHint} />}
      <div className="stack">
        {order.map((status) => (
          <CycleTable
            key={status}
            status={status}
            cycles={cycles.data?.filter((one) => one.status === status) ?? []}
          />
        ))}
      </div>
      {isOpen && <NewCycle onClose={() => setOpen(false)} />}
    </Screen>
  );
}

function CycleTable({
  status,
  cycles,
}: {
  readonly status: Cycle['status'];
  readonly cycles: readonly Cycle[];
}): ReactNode {
  if (cycles.length === 0) return null;
  return (
    <section className="stack">
      <h2>{text.cycleStatus[status]}</h2>
      <table aria-label={text.cycleStatus[status]}>
        <thead>
          <tr>
            <th scope="col">{text.name}</th>
            <th scope="col">{text.team}</th>
            <th scope="col">{text.starts}</th>
            <th scope="col">{text.ends}</th>
          </tr>
        </thead>
        <tbody>
          {cycles.map(({ id, name, team, startsAt, endsAt }) => (
            <tr key={id}>
              <th scope="row">
                <Link to="/cycles/$id" params={{ id }}>
                  {name}
                </Link>
              </th>
              <td>{team}</td>
              <td>
                <Time at={startsAt} />
              </td>
              <td>
                <Time at={endsAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function NewCycle({ onClose }: { readonly onClose: () => void }): ReactNode {
  const teams = useTeams();
  const client = useClient();
  const [team, setTeam] = useState('');
  const chosen = team === '' ? (teams[0]?.key ?? '') : team;
  const create = (fields: FormData): Promise<unknown> => {
    const name = textOf(fields, 'name');
    return client.cycles.create({
      team: chosen,
      ...(name !== '' && { name }),
      startsAt: `${textOf(fields, 'startsAt')}T00:00:00Z`,
      endsAt: `${textOf(fields, 'endsAt')}T00:00:00Z`,
    });
  };
  return (
    <Dialog title={text.newCycle} isOpen onClose={onClose}>
      <Form submit={text.newCycle} onSubmit={create} onDone={onClose}>
        <SelectField
          label={text.team}
          name="team"
          value={chosen}
          options={teams.map(({ key, name }) => [key, name])}
          onPick={setTeam}
        />
        <TextField label={text.name} name="name" />
        <TextField label={text.starts} name="startsAt" type="date" required />
        <TextField label={text.ends} name="endsAt" type="date" required />
      </Form>
    </Dialog>
  );
}
