// Bar for the selected issues. Each change is previewed before it is made, and can be undone.
import type { IssueBulkChanged, IssueUpdate } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useCycles, useLabels, useMembers, useProjects, useStates } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Picker, type Choice } from '../../parts/picker.tsx';
import { StateIcon } from '../../parts/symbols.tsx';
import { notify, notifyProblem } from '../../parts/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issues.ts';
import { applyBulk, bulkMax, previewBulk, type BulkChange } from './bulk.ts';
import { priorityChoices } from './choices.tsx';
import type { ListedIssue } from './list-data.ts';
import styles from './issues.module.css';

interface BulkBarProps {
  readonly issues: readonly ListedIssue[];
  readonly onClear: () => void;
}

interface Preview {
  readonly change: BulkChange;
  readonly changes: IssueBulkChanged['data'];
}

export default function BulkBar({ issues, onClear }: BulkBarProps): ReactNode {
  const client = useClient();
  const [preview, setPreview] = useState<Preview | null>(null);
  const ask = async (change: BulkChange): Promise<void> => {
    try {
      setPreview({ change, changes: await previewBulk(client, issues, change) });
    } catch (error) {
      notifyProblem(error);
    }
  };
  const apply = async ({ change }: Preview): Promise<void> => {
    setPreview(null);
    try {
      const { message, undo } = await applyBulk(client, issues, change);
      notify(message, { label: common.undo, run: () => void undo().catch(notifyProblem) });
      if (change.kind === 'delete') onClear();
    } catch (error) {
      notifyProblem(error);
    }
  };
  const set = (update: IssueUpdate): void => void ask({ kind: 'set', set: update });
  return (
    <div className={styles.bulk} role="region" aria-label={text.bulk}>
      <span role="status">{text.selected(issues.length)}</span>
      {issues.length > bulkMax && <span className="soft">{text.tooMany(bulkMax)}</span>}
      <Fields issues={issues} onSet={set} />
      <Button look="danger" onClick={() => void ask({ kind: 'delete' })}>
        {text.deleteSelected}
      </Button>
      <Button look="plain" onClick={onClear}>
        {text.clearSelection}
      </Button>
      {preview && (
        <PreviewDialog
          preview={preview}
          all={Math.min(issues.length, bulkMax)}
          onClose={() => setPreview(null)}
          onApply={() => void apply(preview)}
        />
      )}
    </div>
  );
}

const named = ({ id, name }: { readonly id: string; readonly name: string }): Choice => ({ id, name });
const orNull = (id: string): string | null => (id === '' ? null : id);
const noneChoice = (name: string): Choice => ({ id: '', name });

function Fields({
  issues,
  onSet,
}: {
  readonly issues: readonly ListedIssue[];
  readonly onSet: (set: IssueUpdate) => void;
}): ReactNode {
  const teams = new Set(issues.map(({ team }) => team.key));
  const members = useMembers().map(named);
  const labels = useLabels().map(named);
  const projects = useProjects().map(named);
  const cycles = useCycles().filter(({ team }) => teams.has(team));
  return (
    <>
      <Picker
        label={text.setState}
        choices={useStateNames(teams)}
        value={null}
        onPick={(state) => onSet({ state })}
      />
      <Picker
        label={text.setAssignee}
        choices={[noneChoice(common.noAssignee), ...members]}
        value={null}
        onPick={(id) => onSet({ assigneeId: orNull(id) })}
      />
      <Picker
        label={text.setPriority}
        choices={priorityChoices}
        value={null}
        onPick={(priority) => onSet({ priority: priority as ListedIssue['priority'] })}
      />
      <Picker
        label={text.addLabel}
        choices={labels}
        value={null}
        onPick={(id) => onSet({ addLabels: [id] })}
      />
      <Picker
        label={text.setProject}
        choices={[noneChoice(common.noProject), ...projects]}
        value={null}
        onPick={(id) => onSet({ projectId: orNull(id) })}
      />
      {cycles.length > 0 && (
        <Picker
          label={text.setCycle}
          choices={[noneChoice(text.noValue.cycle), ...cycles.map(named)]}
          value={null}
          onPick={(id) => onSet({ cycleId: orNull(id) })}
        />
      )}
    </>
  );
}

/** States by name, because the selected issues may belong to several teams, each with its own states. */
function useStateNames(teams: ReadonlySet<string>): readonly Choice[] {
  const states = useStates().filter(({ team }) => teams.has(team));
  const byName = new Map(states.map((state) => [state.name, state]));
  return [...byName.values()].map(({ name, type }) => ({
    id: name,
    name,
    icon: <StateIcon type={type} name={name} />,
  }));
}

const shownMax = 8;

interface PreviewDialogProps {
  readonly preview: Preview;
  readonly all: number;
  readonly onClose: () => void;
  readonly onApply: () => void;
}

function PreviewDialog({
  preview: { change, changes },
  all,
  onClose,
  onApply,
}: PreviewDialogProps): ReactNode {
  const isDeletion = change.kind === 'delete';
  return (
    <Dialog title={text.preview} isOpen onClose={onClose}>
      <p>{isDeletion ? text.wouldDelete(changes.length) : text.wouldChange(changes.length, all)}</p>
      {changes.length === 0 && <p className="soft">{text.nothingChanges}</p>}
      {changes.length > 0 && (
        <table aria-label={text.preview}>
          <thead>
            <tr>
              <th scope="col">{text.issue}</th>
              {!isDeletion && <th scope="col">{text.from}</th>}
              {!isDeletion && <th scope="col">{text.to}</th>}
            </tr>
          </thead>
          <tbody>
            {changes.slice(0, shownMax).map(({ id, identifier, changes: fields }) => (
              <tr key={id}>
                <th scope="row">{identifier}</th>
                {!isDeletion && (
                  <td>
                    {Object.values(fields)
                      .map(({ from }) => valueText(from))
                      .join(', ')}
                  </td>
                )}
                {!isDeletion && (
                  <td>
                    {Object.values(fields)
                      .map(({ to }) => valueText(to))
                      .join(', ')}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {changes.length > shownMax && <p className="soft">{text.moreChanges(changes.length - shownMax)}</p>}
      <div className="row">
        <Button look={isDeletion ? 'danger' : 'primary'} disabled={changes.length === 0} onClick={onApply}>
          {isDeletion ? text.deleteSelected : text.apply}
        </Button>
        <Button onClick={onClose}>{common.cancel}</Button>
      </div>
    </Dialog>
  );
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return common.none;
  if (Array.isArray(value)) return value.length === 0 ? common.none : value.map(valueText).join(', ');
  if (typeof value !== 'object') return String(value);
  return 'name' in value ? String(value.name) : JSON.stringify(value);
}
