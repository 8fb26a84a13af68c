// Bar for the selected issues.
import type { IssueUpdate } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useCycles, useLabels, useMembers, useProjects } from '../../../data/directory.ts';
import { Button } from '../../../parts/button.tsx';
import { Picker, type Choice } from '../../../parts/picker.tsx';
import { notifyProblem } from '../../../parts/overlay/toast.tsx';
import { text as common } from '../../../text/common.ts';
import { text } from '../../../text/issues.ts';
import type { BulkChange } from './bulk.ts';
import { priorityChoices, useStateNames } from '../../../parts/filter/choices.tsx';
import type { ListedIssue } from '../list/list-data.ts';
import styles from '../issues.module.css';

interface BulkBarProps {
  readonly issues: readonly ListedIssue[];
  /** Number of issues of the list; null if all are selected. */
  readonly more: number | null;
  readonly onAll: () => Promise<void>;
  readonly onAsk: (change: BulkChange) => void;
  readonly onClear: () => void;
}

export default function BulkBar({ issues, more, onAll, onAsk, onClear }: BulkBarProps): ReactNode {
  const set = (update: IssueUpdate): void => onAsk({ kind: 'set', set: update });
  return (
    <div className={styles.bulk} data-bar="bottom" role="region" aria-label={text.bulk}>
      <span role="status">{text.selected(issues.length)}</span>
      {more !== null && <AllButton count={more} onAll={onAll} />}
      <Fields issues={issues} onSet={set} />
      <Button look="danger" onClick={() => onAsk({ kind: 'delete' })}>
        {text.deleteSelected}
      </Button>
      <Button look="plain" onClick={onClear}>
        {text.clearSelection}
      </Button>
    </div>
  );
}

function AllButton({ count, onAll }: { readonly count: number } & Pick<BulkBarProps, 'onAll'>): ReactNode {
  const [isLoading, setLoading] = useState(false);
  const load = (): void => {
    setLoading(true);
    void onAll()
      .catch(notifyProblem)
      .finally(() => setLoading(false));
  };
  return (
    <Button disabled={isLoading} onClick={load}>
      {isLoading ? common.loading : text.selectAll(count)}
    </Button>
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
  const isOnAll = (id: string): boolean =>
    issues.every(({ labels: all }) => all.some((label) => label.id === id));
  const labels = useLabels().map(({ id, name }) => ({
    id,
    name: isOnAll(id) ? text.removeLabel(name) : name,
  }));
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
        label={text.setLabel}
        choices={labels}
        value={null}
        onPick={(id) => onSet(isOnAll(id) ? { removeLabels: [id] } : { addLabels: [id] })}
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
