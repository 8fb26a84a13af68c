// Buttons and keys that decide about an issue in triage. Each decision can be undone.
import type { Client, Issue } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useLabels, useTeams } from '../../data/directory.ts';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/triage.ts';
import { ChoiceDialog, DuplicateDialog, LabelDialog } from './dialogs.tsx';
import { idsOf, labelChange } from './labels.ts';
import { snoozeTimes } from './search.ts';
import { moveBack, type OfferUndo } from './undo.ts';

interface DecisionsProps {
  readonly issue: Issue;
  /** The issue leaves the queue. */
  readonly onDecided: () => void;
  /** The issue is in the queue again, because the decision failed. */
  readonly onReturned: (id: string) => void;
  readonly offerUndo: OfferUndo;
}

type Open = 'duplicate' | 'snooze' | 'priority' | 'labels' | 'team' | null;

const priorities = ['urgent', 'high', 'medium', 'low', 'none'] as const;

interface Act<T> {
  readonly done: string;
  readonly run: (client: Client) => Promise<T>;
  /** By default the issue gets its state back. */
  readonly undo?: (client: Client, result: T) => Promise<unknown>;
}

/** Returns functions that write a decision, and offer to undo it. */
function useDecide({ issue, onDecided, onReturned, offerUndo }: DecisionsProps) {
  const write = useWrite();
  const { id } = issue;
  const name = issue.identifier ?? issue.title;
  const back = (client: Client): Promise<unknown> => client.issues.update(id, { stateId: issue.state.id });
  /** Takes the issue out of the queue. */
  const decide = async <T,>({ done, run, undo = back }: Act<T>): Promise<void> => {
    onDecided();
    const result = await write(run);
    if (result === null) return onReturned(id);
    offerUndo({ id, done, undo: async (client) => (await undo(client, result), text.undone(name)) });
  };
  /** Changes the issue, which stays in the queue. */
  const change = async <T,>({ done, run, undo = back }: Act<T>): Promise<void> => {
    const result = await write(run);
    if (result === null) return;
    offerUndo({ id, done, undo: async (client) => (await undo(client, result), text.changeUndone(name)) });
  };
  return { decide, change, back, name };
}

export function Decisions(props: DecisionsProps): ReactNode {
  const { issue } = props;
  const [open, setOpen] = useState<Open>(null);
  const { decide, back, name } = useDecide(props);
  const accept = (): void =>
    void decide({ done: text.accepted(name), run: (client) => client.issues.triage.accept(issue.id) });
  const decline = (): void =>
    void decide({ done: text.declined(name), run: (client) => client.issues.triage.decline(issue.id) });
  const duplicate = (of: string): void =>
    void decide({
      done: text.duplicated(name, of),
      run: (client) => client.relations.create(issue.id, { type: 'duplicate_of', issueId: of }),
      undo: async (client, { id }) => {
        await client.relations.delete(id);
        await back(client);
      },
    });
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

function useChanges(props: DecisionsProps) {
  const { issue, offerUndo } = props;
  const { decide, change, name } = useDecide(props);
  const write = useWrite();
  const { id, priority } = issue;
  const snooze = (time: string): void => {
    const until = snoozeTimes(new Date())[time as keyof typeof text.snoozes];
    void decide({
      done: text.snoozed(name, new Date(until).toLocaleString()),
      run: (client) => client.issues.triage.snooze(id, { until }),
      undo: (client) => client.issues.triage.snooze(id, { until: null }),
    });
  };
  const setPriority = (chosen: string): void => {
    const to = priorities.find((one) => one === chosen) ?? 'none';
    void change({
      done: text.prioritySet(name, common.priorities[to]),
      run: (client) => client.issues.update(id, { priority: to }),
      undo: (client) => client.issues.update(id, { priority }),
    });
  };
  const setTeam = async (team: string): Promise<void> => {
    const moved = await write((client) => client.issues.move(id, { team }));
    if (!moved) return;
    const undo = async (client: Client): Promise<string> => {
      const { identifier } = await moveBack(client, issue);
      return text.movedTo(identifier ?? name, issue.team.name);
    };
    offerUndo({ id, done: text.movedTo(moved.identifier ?? name, moved.team.name), undo });
  };
  const setLabels = (ids: readonly string[]): void => {
    const set = labelChange(idsOf(issue.labels), ids);
    if (Object.keys(set).length === 0) return;
    void change({
      done: text.labelsSet(name),
      run: (client) => client.issues.update(id, set),
      undo: (client) => client.issues.update(id, labelChange(ids, idsOf(issue.labels))),
    });
  };
  return { snooze, setPriority, setTeam: (team: string): void => void setTeam(team), setLabels };
}

function Changes({ open, onClose, ...props }: ChangesProps): ReactNode {
  const { issue } = props;
  const { snooze, setPriority, setTeam, setLabels } = useChanges(props);
  const teams = useTeams();
  const labels = useLabels();
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
