// Steps of a change of several issues: preview, progress, and what failed.
import { useState, type ReactNode } from 'react';
import { useCycles, useLabels, useMembers, useProjects } from '../../../data/directory.ts';
import type { IssueUpdate } from '@tatami/sdk/client';
import { Button } from '../../../parts/button.tsx';
import { ProgressBar } from '../../../parts/chart.tsx';
import { Dialog } from '../../../parts/overlay/dialog.tsx';
import { text as common } from '../../../text/common.ts';
import { text } from '../../../text/issues.ts';
import type { ListedIssue } from '../list/list-data.ts';
import type { BulkChange, Failure, Outcome } from './bulk.ts';
import { changeText } from './change-text.ts';

const shownFirst = 8;
/** Rows that each click adds: thousands at once would stop the page for seconds. */
const shownMore = 100;

export type BulkStep =
  | {
      readonly kind: 'preview';
      readonly change: BulkChange;
      readonly issues: readonly ListedIssue[];
      readonly outcome: Outcome;
      readonly onApply: () => void;
    }
  | { readonly kind: 'progress'; readonly title: string; readonly done: number; readonly all: number }
  | { readonly kind: 'failed'; readonly failures: readonly Failure[] };

interface BulkDialogProps {
  readonly step: BulkStep;
  /** Closes the dialog; stops a change in progress. */
  readonly onClose: () => void;
}

export default function BulkDialog({ step, onClose }: BulkDialogProps): ReactNode {
  if (step.kind === 'preview') return <Preview {...step} onClose={onClose} />;
  if (step.kind === 'progress')
    return (
      <Dialog title={step.title} isOpen onClose={onClose}>
        <ProgressBar done={step.done} all={step.all} />
        <p className="soft">{text.cancelHint}</p>
        <div>
          <Button onClick={onClose}>{common.cancel}</Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={text.failed(step.failures.length)} isOpen onClose={onClose}>
      <Failures failures={step.failures} />
      <div>
        <Button onClick={onClose}>{common.close}</Button>
      </div>
    </Dialog>
  );
}

/** Issues that a change leaves out, by reason. */
function Failures({ failures }: { readonly failures: readonly Failure[] }): ReactNode {
  const groups = [...Map.groupBy(failures, ({ reason }) => reason)];
  return (
    <ul className="stack scroll-box" aria-label={text.failed(failures.length)}>
      {groups.map(([reason, group]) => (
        <li key={reason}>
          <p>{reason}</p>
          <p className="soft">{group.map(({ issue }) => issue.identifier ?? issue.id).join(', ')}</p>
        </li>
      ))}
    </ul>
  );
}

type PreviewProps = Omit<Extract<BulkStep, { kind: 'preview' }>, 'kind'> & Pick<BulkDialogProps, 'onClose'>;

function Preview({ change, issues, outcome, onApply, onClose }: PreviewProps): ReactNode {
  const isDeletion = change.kind === 'delete';
  const { changes, failures } = outcome;
  return (
    <Dialog title={text.preview} isOpen onClose={onClose}>
      {change.kind === 'set' && <ChangeSentence set={change.set} />}
      <p>{isDeletion ? text.wouldDelete(changes.length) : text.wouldChange(changes.length, issues.length)}</p>
      {changes.length === 0 && <p className="soft">{text.nothingChanges}</p>}
      {changes.length > 0 && <ChangeTable isDeletion={isDeletion} changes={changes} issues={issues} />}
      {failures.length > 0 && (
        <>
          <p className="notice warning">{text.wouldFail(failures.length)}</p>
          <Failures failures={failures} />
        </>
      )}
      <div className="row">
        <Button look={isDeletion ? 'danger' : 'primary'} disabled={changes.length === 0} onClick={onApply}>
          {isDeletion ? text.deleteSelected : text.apply}
        </Button>
        <Button onClick={onClose}>{common.cancel}</Button>
      </div>
    </Dialog>
  );
}

function ChangeSentence({ set }: { readonly set: IssueUpdate }): ReactNode {
  const directory = {
    members: useMembers(),
    labels: useLabels(),
    projects: useProjects(),
    cycles: useCycles(),
  };
  return (
    <p>
      <strong>{changeText(set, directory)}</strong>
    </p>
  );
}

interface ChangeTableProps {
  readonly isDeletion: boolean;
  readonly changes: Outcome['changes'];
  readonly issues: readonly ListedIssue[];
}

function ChangeTable({ isDeletion, changes, issues }: ChangeTableProps): ReactNode {
  const [shown, setShown] = useState(shownFirst);
  const titles = new Map(issues.map(({ id, title }) => [id, title]));
  return (
    <>
      <div className="scroll-box" role="group" aria-label={text.preview} tabIndex={0}>
        <table aria-label={text.preview}>
          <thead>
            <tr>
              <th scope="col">{text.issue}</th>
              {!isDeletion && <th scope="col">{text.from}</th>}
              {!isDeletion && <th scope="col">{text.to}</th>}
            </tr>
          </thead>
          <tbody>
            {changes.slice(0, shown).map(({ id, identifier, changes: fields }) => (
              <tr key={id}>
                <th scope="row">
                  {identifier} {titles.get(id)}
                </th>
                {!isDeletion && <td>{fieldsText(fields, 'from')}</td>}
                {!isDeletion && <td>{fieldsText(fields, 'to')}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {changes.length > shown && (
        <div>
          <Button look="plain" onClick={() => setShown(shown + shownMore)}>
            {text.moreChanges(changes.length - shown)}
          </Button>
        </div>
      )}
    </>
  );
}

const fieldsText = (fields: Outcome['changes'][number]['changes'], side: 'from' | 'to'): string =>
  Object.entries(fields)
    .map(([field, values]) => (field === 'priority' ? priorityText(values[side]) : valueText(values[side])))
    .join(', ');

const priorityText = (value: unknown): string =>
  common.priorities[value as keyof typeof common.priorities] ?? valueText(value);

const valuesText = (values: readonly unknown[]): string => values.map(valueText).join(', ');

function valueText(value: unknown): string {
  if (value === null || value === undefined) return common.none;
  if (Array.isArray(value)) return value.length === 0 ? common.none : valuesText(value);
  if (typeof value !== 'object') return String(value);
  return 'name' in value ? String(value.name) : JSON.stringify(value);
}
