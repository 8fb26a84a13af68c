import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Issue } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useCycles, useLabels, useMembers, useProjects, useStates, useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { changeIssue, type IssueChange } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { IssueDialog } from '../../parts/issue/issue-dialog.tsx';
import { MultiPicker, Picker, type Choice } from '../../parts/picker.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issue.ts';
import { priorityChoices, useStateChoices } from '../../parts/filter/choices.tsx';
import { CustomFields } from './custom-fields.tsx';
import styles from './issue.module.css';

export type Change = (change: Omit<IssueChange, 'issue'>) => void;

interface FieldProps extends IssueFieldsProps {
  readonly onChange: Change;
}

const named = ({ id, name }: { readonly id: string; readonly name: string }): Choice => ({ id, name });
const none = (name: string): Choice => ({ id: '', name });
const orNull = (id: string): string | null => (id === '' ? null : id);

interface IssueFieldsProps {
  readonly issue: Issue;
  /** True to give the fields shortcuts. Beside a list, the keys change the row of the list. */
  readonly hasShortcuts: boolean;
}

export function IssueFields({ issue, hasShortcuts }: IssueFieldsProps): ReactNode {
  const client = useClient();
  const onChange: Change = (change) => void changeIssue(client, { issue, ...change });
  const props = { issue, hasShortcuts, onChange };
  return (
    <aside className={styles.fields} aria-label={text.fields}>
      <StateField {...props} />
      <PeopleFields {...props} />
      <LabelField {...props} />
      <PlanFields {...props} />
      <PlainFields {...props} />
      <ParentField {...props} />
      <CustomFields {...props} />
      <Facts issue={issue} />
    </aside>
  );
}

export function Field({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div>
      <span className="soft">{label}</span>
      {children}
    </div>
  );
}

function StateField({ issue, hasShortcuts, onChange }: FieldProps): ReactNode {
  const states = useStates();
  const choices = useStateChoices(issue.team.key);
  const transitions = useTeams().find(({ id }) => id === issue.team.id)?.transitions;
  const allowed = transitions?.[issue.state.id];
  const offered = allowed
    ? choices.filter(({ id }) => id === issue.state.id || allowed.includes(id))
    : choices;
  const pick = (stateId: string): void => {
    const state = states.find(({ id }) => id === stateId);
    if (state) onChange({ patch: { stateId }, draft: { state } });
  };
  return (
    <Field label={text.state}>
      <Picker
        label={text.state}
        choices={offered}
        value={issue.state.id}
        onPick={pick}
        look="plain"
        shortcut={hasShortcuts ? 's' : undefined}
      />
    </Field>
  );
}

function PeopleFields({ issue, hasShortcuts, onChange }: FieldProps): ReactNode {
  const members = useMembers().map(named);
  const assign = (id: string): void => {
    const assignee = members.find((member) => member.id === id) ?? null;
    onChange({ patch: { assigneeId: orNull(id) }, draft: { assignee } });
  };
  const prioritize = (id: string): void => {
    const priority = id as Issue['priority'];
    onChange({ patch: { priority }, draft: { priority } });
  };
  return (
    <>
      <Field label={text.assignee}>
        <Picker
          label={text.assignee}
          choices={[none(common.noAssignee), ...members]}
          value={issue.assignee?.id ?? ''}
          onPick={assign}
          look="plain"
          shortcut={hasShortcuts ? 'a' : undefined}
        />
      </Field>
      <Field label={text.priority}>
        <Picker
          label={text.priority}
          choices={priorityChoices}
          value={issue.priority}
          onPick={prioritize}
          look="plain"
          shortcut={hasShortcuts ? 'p' : undefined}
        />
      </Field>
    </>
  );
}

function LabelField({ issue, hasShortcuts, onChange }: FieldProps): ReactNode {
  const labels = useLabels();
  const pick = (ids: readonly string[]): void =>
    onChange({ patch: { labels: ids }, draft: { labels: labels.filter(({ id }) => ids.includes(id)) } });
  return (
    <Field label={text.labels}>
      <MultiPicker
        label={text.labels}
        choices={labels.map(named)}
        values={issue.labels.map(({ id }) => id)}
        onPick={pick}
        empty={text.noLabels}
        look="plain"
        shortcut={hasShortcuts ? 'l' : undefined}
      />
    </Field>
  );
}

function PlanFields({ issue, onChange }: FieldProps): ReactNode {
  const projects = useProjects().map(named);
  const cycles = useCycles().filter(
    ({ team, id, status }) => team === issue.team.key && (status !== 'completed' || id === issue.cycle?.id),
  );
  return (
    <>
      <Field label={text.project}>
        <Picker
          label={text.project}
          choices={[none(common.noProject), ...projects]}
          value={issue.project?.id ?? ''}
          onPick={(id) =>
            onChange({
              patch: { projectId: orNull(id) },
              draft: { project: projects.find((one) => one.id === id) ?? null, milestone: null },
            })
          }
          look="plain"
        />
      </Field>
      {issue.project && <MilestoneField issue={issue} projectId={issue.project.id} onChange={onChange} />}
      <Field label={text.cycle}>
        <Picker
          label={text.cycle}
          choices={[none(text.noCycle), ...cycles.map(named)]}
          value={issue.cycle?.id ?? ''}
          onPick={(id) =>
            onChange({
              patch: { cycleId: orNull(id) },
              draft: { cycle: cycles.find((one) => one.id === id) ?? null },
            })
          }
          look="plain"
        />
      </Field>
    </>
  );
}

function MilestoneField({
  issue,
  projectId,
  onChange,
}: Omit<FieldProps, 'hasShortcuts'> & { readonly projectId: string }): ReactNode {
  const client = useClient();
  const { data = [] } = useQuery({
    queryKey: ['milestones', projectId],
    queryFn: () => Array.fromAsync(client.milestones.list(projectId, { limit: 100 })),
  });
  return (
    <Field label={text.milestone}>
      <Picker
        label={text.milestone}
        choices={[none(text.noMilestone), ...data.map(named)]}
        value={issue.milestone?.id ?? ''}
        onPick={(id) =>
          onChange({
            patch: { milestoneId: orNull(id) },
            draft: { milestone: data.find((one) => one.id === id) ?? null },
          })
        }
        look="plain"
      />
    </Field>
  );
}

function PlainFields({ issue, onChange }: FieldProps): ReactNode {
  const estimate = (value: string): void => {
    const number = value === '' ? null : Number(value);
    if (number !== issue.estimate) onChange({ patch: { estimate: number }, draft: { estimate: number } });
  };
  return (
    <>
      <Field label={text.estimate}>
        <input
          key={issue.estimate}
          type="number"
          min={0}
          aria-label={text.estimate}
          defaultValue={issue.estimate ?? ''}
          onBlur={({ target }) => estimate(target.value)}
        />
      </Field>
      <Field label={text.dueDate}>
        <input
          type="date"
          aria-label={text.dueDate}
          value={issue.dueDate ?? ''}
          onChange={({ target }) => {
            const dueDate = orNull(target.value);
            onChange({ patch: { dueDate }, draft: { dueDate } });
          }}
        />
      </Field>
    </>
  );
}

function ParentField({ issue, onChange }: FieldProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const parent = issue.parent?.identifier ?? issue.parent?.id;
  const change = (parentId: string | null, draft: Issue['parent']): void => {
    setOpen(false);
    onChange({ patch: { parentId }, draft: { parent: draft } });
  };
  return (
    <Field label={text.parent}>
      <span className="row">
        {parent !== undefined && (
          <Link to="/issues/$identifier" params={{ identifier: parent }}>
            {parent}
          </Link>
        )}
        <Button
          look="plain"
          aria-label={parent === undefined ? `${text.noParent}. ${text.changeParent}` : text.changeParent}
          onClick={() => setOpen(true)}
        >
          {parent === undefined ? text.noParent : text.change}
        </Button>
      </span>
      {isOpen && (
        <IssueDialog
          label={text.changeParent}
          excluded={[issue.id]}
          onPick={({ id, identifier }) => change(id, { id, identifier })}
          onClose={() => setOpen(false)}
        >
          {parent !== undefined && (
            <Button onClick={() => change(null, null)}>{text.removeParent(parent)}</Button>
          )}
        </IssueDialog>
      )}
    </Field>
  );
}

function Facts({ issue }: { readonly issue: Issue }): ReactNode {
  return (
    <>
      <Field label={text.team}>
        <span>{issue.team.name}</span>
      </Field>
      <Field label={text.creator}>
        <span>
          {issue.creator.name} <Time at={issue.createdAt} />
        </span>
      </Field>
    </>
  );
}
