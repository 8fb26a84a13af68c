import type { Template } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useLabels, useMembers, useProjects, useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Form, SelectField, TextArea, TextField, textOf } from '../../parts/fields.tsx';
import { MultiPicker } from '../../parts/picker.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/create.ts';

interface TemplateFormProps {
  /** Null for a new one. */
  readonly template: Template | null;
  readonly team: string;
  readonly onSaved: () => Promise<void>;
  readonly onDone: () => void;
}

type Option = readonly [value: string, name: string];

const named = ({ id, name }: { readonly id: string; readonly name: string }): Option => [id, name];

const linesOf = (value: string): string[] =>
  value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function bodyOf(fields: FormData, labels: readonly string[]) {
  const optional = (name: string): string | null => textOf(fields, name) || null;
  return {
    name: textOf(fields, 'name'),
    title: optional('title'),
    description: textOf(fields, 'description'),
    priority: textOf(fields, 'priority') as Template['priority'],
    assigneeId: optional('assigneeId'),
    projectId: optional('projectId'),
    labels,
    subIssues: linesOf(textOf(fields, 'subIssues')),
  };
}

export function TemplateForm({ template, team, onSaved, onDone }: TemplateFormProps): ReactNode {
  const client = useClient();
  const teams = useTeams();
  const [ofTeam, setTeam] = useState(template ? (template.team ?? '') : team);
  const [labels, setLabels] = useState<readonly string[]>(template?.labels.map(({ id }) => id) ?? []);
  const save = async (fields: FormData): Promise<void> => {
    const body = bodyOf(fields, labels);
    if (template) await client.templates.update(template.id, body);
    else await client.templates.create({ ...body, team: ofTeam === '' ? null : ofTeam });
    await onSaved();
  };
  return (
    <Form submit={common.save} onSubmit={save} onDone={onDone}>
      <TextField
        label={text.templateName}
        name="name"
        defaultValue={template?.name}
        maxLength={80}
        required
        autoFocus
      />
      {!template && (
        <SelectField
          label={text.team}
          name="team"
          value={ofTeam}
          options={[['', text.allTeams], ...teams.map(({ key, name }): Option => [key, name])]}
          onPick={setTeam}
        />
      )}
      <TextField label={text.title} name="title" defaultValue={template?.title ?? ''} maxLength={500} />
      <TextArea label={text.description} name="description" defaultValue={template?.description} />
      <Values template={template} team={ofTeam} labels={labels} onLabels={setLabels} />
      <TextArea
        label={text.subIssues}
        name="subIssues"
        rows={2}
        defaultValue={template?.subIssues.join('\n')}
      />
    </Form>
  );
}

interface ValuesProps {
  readonly template: Template | null;
  readonly team: string;
  readonly labels: readonly string[];
  readonly onLabels: (labels: readonly string[]) => void;
}

function Values({ template, team, labels, onLabels }: ValuesProps): ReactNode {
  const [values, setValues] = useState({
    priority: template?.priority ?? 'none',
    assigneeId: template?.assignee?.id ?? '',
    projectId: template?.project?.id ?? '',
  });
  const usable = useLabels().filter((label) => label.team === null || label.team === team);
  const select = (name: keyof typeof values, options: readonly Option[]) => ({
    name,
    value: values[name],
    options,
    onPick: (value: string) => setValues((before) => ({ ...before, [name]: value })),
  });
  return (
    <>
      <SelectField label={text.priority} {...select('priority', Object.entries(common.priorities))} />
      <SelectField
        label={text.assignee}
        {...select('assigneeId', [['', common.noAssignee], ...useMembers().map(named)])}
      />
      <SelectField
        label={text.project}
        {...select('projectId', [['', common.noProject], ...useProjects().map(named)])}
      />
      <div className="field">
        <span>{text.labels}</span>
        <MultiPicker label={text.labels} choices={usable} values={labels} onPick={onLabels} />
      </div>
    </>
  );
}
