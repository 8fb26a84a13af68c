import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { projectsQuery, useMembers } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { dateOf, Form, SelectField, TextArea, TextField, textOf } from '../../parts/fields.tsx';
import { Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/planning.ts';

export default function Projects(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const projects = useQuery(projectsQuery(useClient()));
  if (projects.error) return <FailedScreen error={projects.error} retry={() => void projects.refetch()} />;
  const create = (
    <Button look="primary" onClick={() => setOpen(true)}>
      {text.newProject}
    </Button>
  );
  return (
    <Screen title={text.projects} actions={create}>
      {!projects.data && <Loading />}
      {projects.data?.length === 0 && <Empty title={text.noProjects} hint={text.noProjectsHint} />}
      {projects.data && projects.data.length > 0 && (
        <table aria-label={text.projects}>
          <thead>
            <tr>
              <th scope="col">{text.name}</th>
              <th scope="col">{text.status}</th>
              <th scope="col">{text.health}</th>
              <th scope="col">{text.lead}</th>
              <th scope="col">{text.targetDate}</th>
            </tr>
          </thead>
          <tbody>
            {projects.data.map(({ id, name, status, health, lead, targetDate }) => (
              <tr key={id}>
                <th scope="row">
                  <Link to="/projects/$id" params={{ id }}>
                    {name}
                  </Link>
                </th>
                <td>{text.projectStatus[status]}</td>
                <td>{text.healths[health ?? 'none']}</td>
                <td>{lead?.name ?? text.noLead}</td>
                <td>{targetDate ?? text.noDate}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isOpen && <NewProject onClose={() => setOpen(false)} />}
    </Screen>
  );
}

function NewProject({ onClose }: { readonly onClose: () => void }): ReactNode {
  const members = useMembers();
  const client = useClient();
  const [lead, setLead] = useState('');
  const create = (fields: FormData): Promise<unknown> =>
    client.projects.create({
      name: textOf(fields, 'name'),
      description: textOf(fields, 'description'),
      leadId: lead === '' ? null : lead,
      startDate: dateOf(fields, 'startDate'),
      targetDate: dateOf(fields, 'targetDate'),
    });
  return (
    <Dialog title={text.newProject} isOpen onClose={onClose}>
      <Form submit={text.newProject} onSubmit={create} onDone={onClose}>
        <TextField label={text.name} name="name" required />
        <TextArea label={text.description} name="description" />
        <SelectField
          label={text.lead}
          name="leadId"
          value={lead}
          options={[['', text.noLead], ...members.map(({ id, name }) => [id, name] as const)]}
          onPick={setLead}
        />
        <TextField label={text.startDate} name="startDate" type="date" />
        <TextField label={text.targetDate} name="targetDate" type="date" />
      </Form>
    </Dialog>
  );
}
