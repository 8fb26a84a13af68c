// Buttons and keys that decide about an issue in triage. Each decision can be undone.
import type { Client, Issue } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useLabels, useTeams } from '../../data/directory.ts';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { notify } from '../../parts/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/triage.ts';
import { ChoiceDialog, DuplicateDialog, LabelDialog } from './dialogs.tsx';
import { snoozeTimes } from './search.ts';

interface DecisionsProps {
  readonly issue: Issue;
  /** The issue leaves the queue. */
  readonly onDecided: () => void;
  /** The issue is in the queue again, because the decision failed or was undone. */
  readonly onReturned: (id: string) => void;
}

type Open = 'duplicate' | 'snooze' | 'priority' | 'labels' | 'team' | null;

const priorities = ['urgent', 'high', 'medium', 'low', 'none'] as const;

/** Returns functions that write a decision, and offer to undo it. */
function useDecide({ issue, onDecided, onReturned }: DecisionsProps) {
  const write = useWrite();
  const name = issue.identifier ?? issue.title;
  const back = (client: Client): Promise<unknown> =>
    client.issues.update(issue.id, { stateId: issue.state.id });
  const offer = (done: string, undo: (client: Client) => Promise<unknown>): void =>
    notify(done, {
      label: common.undo,
      run: () =>
        void write(async (client) => {
          await undo(client);
          onReturned(issue.id);
          return true;
        }, text.undone(name)),
    });
  /** Returns what the server answered; null if it refused. */
  const decide = async <T,>(
    done: string,
    run: (client: Client) => Promise<T>,
    undo: (client: Client, result: T) => Promise<unknown> = back,
  ): Promise<void> => {
    onDecided();
    const result = await write(run);
    if (result === null) onReturned(issue.id);
    else offer(done, (client) => undo(client, result));
  };
  const change = async (done: string, run: (client: Client) => Promise<unknown>): Promise<void> => {
    await write(run, done);
  };
  return { decide, change, back, name };
}

export function Decisions(props: DecisionsProps): ReactNode {
  const { issue } = props;
  const [open, setOpen] = useState<Open>(null);
  const { decide, back, name } = useDecide(props);
  const accept = (): void =>
    void decide(text.accepted(name), (client) => client.issues.triage.accept(issue.id));
  const decline = (): void =>
    void decide(text.declined(name), (client) => client.issues.triage.decline(issue.id));
  const duplicate = (of: string): void =>
    void decide(
      text.duplicated(name, of),
      (client) => client.relations.create(issue.id, { type: 'duplicate_of', issueId: of }),
      async (client, { id }) => {
        await client.relations.delete(id);
        await back(client);
      },
    );
  const actions = [
    { key: 'A', label: text.accept, run: accept },
    { key: 'D', label: text.decline, run: decline },
    { key: 'M', label: text.duplicate, run: () => setOpen('duplicate') },
    { key: 'Z', label: text.snooze, run: () => setOpen('snooze') },
    { key: 'P', label: text.priority, run: () => setOpen('priority') },
    { key: 'L', label: text.labels, run: () => setOpen('labels') },
    { key: 'T', label: text.moveTeam, run: () => setOpen('team') },
  ];
  useShortcuts(actions.map(({ key, label, run }) => ({ keys: key.toLowerCase(), label, run })));
  return (
    <div className="row wrap" role="group" aria-label={text.decisions}>
      {actions.map(({ key, label, run }, index) => (
        <Button key={key} {...(index === 0 && { look: 'primary' as const })} onClick={run}>
          {text.withKey(label, key)}
        </Button>
      ))}
      {open === 'duplicate' && (
        <DuplicateDialog issue={issue} onPick={duplicate} onClose={() => setOpen(null)} />
      )}
      <Changes {...props} open={open} onClose={() => setOpen(null)} />
    </div>
  );
}

interface ChangesProps extends DecisionsProps {
  readonly open: Open;
  readonly onClose: () => void;
}

function Changes({ open, onClose, ...props }: ChangesProps): ReactNode {
  const { issue } = props;
  const { decide, change, name } = useDecide(props);
  const teams = useTeams();
  const labels = useLabels();
  const snooze = (id: string): void => {
    const until = snoozeTimes(new Date())[id as keyof typeof text.snoozes];
    void decide(
      text.snoozed(name, new Date(until).toLocaleString()),
      (client) => client.issues.triage.snooze(issue.id, { until }),
      (client) => client.issues.triage.snooze(issue.id, { until: null }),
    );
  };
  const setPriority = (priority: string): void => {
    const to = priorities.find((one) => one === priority) ?? 'none';
    void change(text.prioritySet(name, common.priorities[to]), (client) =>
      client.issues.update(issue.id, { priority: to }),
    );
  };
  const setTeam = (team: string): void =>
    void change(text.movedTo(name, team), (client) => client.issues.move(issue.id, { team }));
  const setLabels = (ids: readonly string[]): void =>
    void change(text.labelsSet(name), (client) => client.issues.update(issue.id, { labels: ids }));
  switch (open) {
    case 'snooze':
      return (
        <ChoiceDialog
          title={text.snooze}
          choices={Object.entries(text.snoozes)}
          onPick={snooze}
          onClose={onClose}
        />
      );
    case 'priority': {
      const choices = priorities.map((one) => [one, common.priorities[one]] as const);
      return <ChoiceDialog title={text.priority} choices={choices} onPick={setPriority} onClose={onClose} />;
    }
    case 'team': {
      const choices = teams
        .filter(({ id }) => id !== issue.team.id)
        .map((one) => [one.key, one.name] as const);
      return <ChoiceDialog title={text.newTeam} choices={choices} onPick={setTeam} onClose={onClose} />;
    }
    case 'labels':
      return <LabelDialog issue={issue} labels={labels} onPick={setLabels} onClose={onClose} />;
    default:
      return null;
  }
}
