import { useQuery } from '@tanstack/react-query';
import type { Template } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useCycles, useLabels, useMembers, useProjects, useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { MultiPicker, Picker, type Choice } from '../../parts/picker.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/create.ts';
import { priorityChoices, useStateChoices } from '../../parts/filter/choices.tsx';
import type { IssueDraft } from './draft.ts';
import { templatesQuery } from './templates-query.ts';

interface DraftFieldsProps {
  readonly draft: IssueDraft;
  readonly team: string;
  readonly onChange: (part: Partial<IssueDraft>) => void;
  /** Opens the dialog of the templates. */
  readonly onTemplates: () => void;
}

const named = ({ id, name }: { readonly id: string; readonly name: string }): Choice => ({ id, name });
const none = (name: string): Choice => ({ id: '', name });

export function DraftFields({ draft, team, onChange, onTemplates }: DraftFieldsProps): ReactNode {
  const teams = useTeams().map(({ key, name }) => ({ id: key, name }));
  const members = useMembers().map(named);
  const labels = useLabels().map(named);
  return (
    <div className="row wrap">
      <Picker
        label={text.team}
        choices={teams}
        value={team}
        // State and cycle belong to a team.
        onPick={(key) => onChange({ team: key, stateId: '', cycleId: '' })}
      />
      <Templates team={team} onChange={onChange} onTemplates={onTemplates} />
      <Picker
        label={text.state}
        choices={useStateChoices(team)}
        value={draft.stateId}
        onPick={(stateId) => onChange({ stateId })}
      />
      <Picker
        label={text.assignee}
        choices={[none(common.noAssignee), ...members]}
        value={draft.assigneeId}
        onPick={(assigneeId) => onChange({ assigneeId })}
      />
      <Picker
        label={text.priority}
        choices={priorityChoices}
        value={draft.priority}
        onPick={(priority) => onChange({ priority: priority as IssueDraft['priority'] })}
      />
      <MultiPicker
        label={text.labels}
        choices={labels}
        values={draft.labels}
        onPick={(chosen) => onChange({ labels: chosen })}
      />
      <Plan draft={draft} team={team} onChange={onChange} />
      <label className="row">
        {text.dueDate}
        <input
          type="date"
          value={draft.dueDate}
          onChange={({ target }) => onChange({ dueDate: target.value })}
        />
      </label>
    </div>
  );
}

function Plan({ draft, team, onChange }: Omit<DraftFieldsProps, 'onTemplates'>): ReactNode {
  const projects = useProjects().map(named);
  const cycles = useCycles().filter((cycle) => cycle.team === team && cycle.status !== 'completed');
  return (
    <>
      <Picker
        label={text.project}
        choices={[none(common.noProject), ...projects]}
        value={draft.projectId}
        onPick={(projectId) => onChange({ projectId })}
      />
      {cycles.length > 0 && (
        <Picker
          label={text.cycle}
          choices={[none(text.noCycle), ...cycles.map(named)]}
          value={draft.cycleId}
          onPick={(cycleId) => onChange({ cycleId })}
        />
      )}
    </>
  );
}

function Templates({
  team,
  onChange,
  onTemplates,
}: Pick<DraftFieldsProps, 'team' | 'onChange' | 'onTemplates'>): ReactNode {
  const { data = [] } = useQuery(templatesQuery(useClient()));
  const own = data.filter((template) => template.team === null || template.team === team);
  return (
    <>
      {own.length > 0 && (
        <Picker
          label={text.template}
          choices={own.map(named)}
          value={null}
          onPick={(id) => onChange(filledBy(own.find((template) => template.id === id)!))}
        />
      )}
      <Button look="plain" onClick={onTemplates}>
        {text.editTemplates}
      </Button>
    </>
  );
}

/** Returns the values of a template; empty ones leave the draft as it is. */
function filledBy({ title, description, priority, labels }: Template): Partial<IssueDraft> {
  return {
    ...(title !== null && title !== '' && { title }),
    ...(description !== null && description !== '' && { description }),
    ...(priority !== null && { priority }),
    ...(labels.length > 0 && { labels: labels.map(({ id }) => id) }),
  };
}
