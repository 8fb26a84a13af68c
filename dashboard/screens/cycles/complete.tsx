// Dialog that completes a cycle. It lists the issues that roll over first.
import { useQuery } from '@tanstack/react-query';
import type { Cycle } from '@tatami/sdk/client';
import { useEffect, useRef, type ReactNode } from 'react';
import { useCycles, useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form } from '../../parts/fields.tsx';
import { IssueRows } from '../../parts/issue/issue-rows.tsx';
import { text } from '../../text/planning.ts';
import { nextCycle, unfinishedOf } from './rollover.ts';

interface CompleteProps {
  readonly cycle: Cycle;
  readonly onClose: () => void;
}

/** Returns the place where an unfinished issue goes, and a sentence about all of them. */
function useRollover(cycle: Cycle) {
  const team = useTeams().find(({ key }) => key === cycle.team);
  const cycles = useCycles();
  const next = nextCycle(cycles, cycle);
  // The list of cycles contains this one, once it is loaded.
  if (cycles.length === 0) return null;
  if (team?.cycles?.rollsOver === false) return { to: text.staysInCycle, sentence: text.rollsNotOver };
  if (!next) return { to: text.leavesCycle, sentence: text.rollsNowhere };
  return { to: text.rolledTo(next.name), sentence: (count: number) => text.rollsTo(count, next.name) };
}

export default function CompleteDialog({ cycle, onClose }: CompleteProps): ReactNode {
  const client = useClient();
  const write = useWrite();
  const rollover = useRollover(cycle);
  const { id, name, status } = cycle;
  const filter = JSON.stringify(unfinishedOf(id));
  const { data } = useQuery({
    queryKey: ['issues', 'count', 'cycle', id],
    queryFn: () => client.issues.count({ filter }),
  });
  // The button that opened the dialog is gone once the cycle is completed, here or elsewhere.
  const finalFocus = useRef<HTMLElement>(null);
  const focusMain = (): void => void (finalFocus.current = document.querySelector('main'));
  useEffect(() => {
    if (status === 'completed') focusMain();
  }, [status]);
  const complete = async (): Promise<unknown> => {
    const completed = await write((api) => api.cycles.complete(id), text.cycleCompleted(name));
    if (completed) focusMain();
    return completed;
  };
  return (
    <Dialog title={text.rolloverTitle} isOpen onClose={onClose} finalFocus={finalFocus}>
      {data && rollover && <p>{data.count === 0 ? text.nothingRolls : rollover.sentence(data.count)}</p>}
      <div className="scroll-box">
        <IssueRows
          name={text.unfinished}
          id={['cycle', id, 'unfinished']}
          page={async (after) =>
            client.issues.list({ filter, sort: 'createdAt', limit: 50, ...(after !== null && { after }) })
          }
          empty={null}
          actions={() => <span className="soft">{rollover?.to}</span>}
        />
      </div>
      <Form submit={text.complete} onSubmit={complete} onDone={onClose}>
        {null}
      </Form>
    </Dialog>
  );
}
