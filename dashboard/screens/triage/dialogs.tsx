// Dialogs of the decisions that need a value.
import { useQuery } from '@tanstack/react-query';
import type { Issue, Label } from '@tatami/sdk/client';
import type { KeyboardEvent, ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form } from '../../parts/fields.tsx';
import { IssueDialog } from '../../parts/issue/issue-dialog.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/triage.ts';
import { similarQuery } from './evidence.tsx';

interface ChoiceProps {
  readonly title: string;
  readonly choices: readonly (readonly [id: string, name: string])[];
  readonly onPick: (id: string) => void;
  readonly onClose: () => void;
}

/** List of choices. The digits 1 to 9 choose one, too. */
export function ChoiceDialog({ title, choices, onPick, onClose }: ChoiceProps): ReactNode {
  const pick = (id: string): void => {
    onClose();
    onPick(id);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const choice = /^[1-9]$/.test(event.key) && choices[Number(event.key) - 1];
    if (choice) pick(choice[0]);
  };
  return (
    <Dialog title={title} isOpen onClose={onClose} onKeyDown={onKeyDown}>
      <div className="stack">
        {choices.map(([id, name], index) => (
          <Button key={id} onClick={() => pick(id)}>
            {index < 9 && (
              <span className="soft" aria-hidden="true">
                {index + 1}
              </span>
            )}
            {name}
          </Button>
        ))}
      </div>
    </Dialog>
  );
}

interface LabelProps {
  readonly issue: Issue;
  readonly labels: readonly Label[];
  readonly onPick: (ids: readonly string[]) => void;
  readonly onClose: () => void;
}

export function LabelDialog({ issue, labels, onPick, onClose }: LabelProps): ReactNode {
  const usable = labels.filter(({ team }) => team === null || team === issue.team.key);
  const save = (fields: FormData): Promise<void> => {
    onPick(fields.getAll('label').filter((id) => typeof id === 'string'));
    return Promise.resolve();
  };
  return (
    <Dialog title={text.labels} isOpen onClose={onClose}>
      <Form submit={common.save} onSubmit={save} onDone={onClose}>
        {usable.map(({ id, name }) => (
          <label key={id} className="row">
            <input
              type="checkbox"
              name="label"
              value={id}
              defaultChecked={issue.labels.some((label) => label.id === id)}
            />
            {name}
          </label>
        ))}
      </Form>
    </Dialog>
  );
}

interface DuplicateProps {
  readonly issue: Issue;
  /** Receives an identifier. */
  readonly onPick: (of: string) => void;
  readonly onClose: () => void;
}

/** Search that offers similar issues until something is typed. */
export function DuplicateDialog({ issue, onPick, onClose }: DuplicateProps): ReactNode {
  const client = useClient();
  const similar = useQuery(similarQuery(client, issue.id));
  const suggested = similar.data?.data.map(({ issue: other, score }) => ({
    ...other,
    note: text.score(Math.round(score * 100)),
  }));
  return (
    <IssueDialog
      label={text.duplicateOf}
      excluded={[issue.id]}
      suggested={suggested ?? []}
      onPick={({ id, identifier }) => {
        onClose();
        onPick(identifier ?? id);
      }}
      onClose={onClose}
    />
  );
}
