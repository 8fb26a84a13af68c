// Operations of projects beyond the plain ones: the archive, updates, milestones, progress.
import type { Setting } from './all.ts';

export async function projectOperations({ app, did, project }: Setting): Promise<void> {
  const v1 = '/api/v1';
  const path = `${v1}/projects/${project.id}`;
  await did('projects.archive', `${path}/archive`);
  await did('projects.list', `${v1}/projects?archived=only`);
  await did('projects.unarchive', `${path}/unarchive`);
  await did('projects.delete', path);
  await did('projects.restore', `${path}/restore`);

  const update = await did('project-updates.create', `${path}/project-updates`, {
    health: 'off_track',
    body: 'The importer takes longer than we thought.',
  });
  const updatePath = `${v1}/project-updates/${update.id}`;
  await did('project-updates.get', updatePath);
  await did('project-updates.list', `${path}/project-updates`);
  await did('project-updates.update', updatePath, { body: 'The importer takes a week longer.' });
  await did('project-updates.delete', updatePath);

  const milestone = await did('milestones.create', `${path}/milestones`, {
    name: 'Beta',
    targetDate: '2027-02-01',
  });
  const milestonePath = `${v1}/milestones/${milestone.id}`;
  await did('milestones.get', milestonePath);
  await did('milestones.update', milestonePath, { description: 'What the first customers see.' });
  await did('milestones.list', `${path}/milestones`);
  const { json: states } = await app.call('GET', `${v1}/workflows?team=DOC`);
  const done = states.data.find(({ type }: { type: string }) => type === 'completed');
  const issueFields = { team: 'DOC', projectId: project.id, milestoneId: milestone.id };
  await did('issues.create', `${v1}/issues`, { ...issueFields, title: 'Ship the beta', stateId: done.id });
  await app.settled();
  await did('projects.progress', `${path}/progress`);
  await did('milestones.delete', milestonePath);
}
