// Pipelines and releases, from a plan to a rollback.
import type { Setting } from './all.ts';

export async function releaseOperations({ did, issue }: Setting): Promise<void> {
  const v1 = '/api/v1';
  const pipeline = await did('pipelines.create', `${v1}/pipelines`, {
    name: 'Editor',
    type: 'scheduled',
    team: 'DOC',
    repository: 'acme/editor',
  });
  const pipelinePath = `${v1}/pipelines/${pipeline.id}`;
  await did('pipelines.get', pipelinePath);
  await did('pipelines.update', pipelinePath, { stages: ['planned', 'staging', 'released'] });
  await did('pipelines.list', `${v1}/pipelines`);

  const plan = { pipelineId: pipeline.id, targetDate: '2027-03-01' };
  const release = await did('releases.create', `${v1}/releases`, { ...plan, name: 'Spring', tag: '2.5.0' });
  const path = `${v1}/releases/${release.id}`;
  await did('releases.get', path);
  await did('releases.list', `${v1}/releases`);
  await did('releases.update', path, { name: 'Spring 2027' });
  await did('releases.issues.add', `${path}/issues`, { issueIds: [issue.identifier] });
  await did('releases.issues.list', `${path}/issues`);
  await did('releases.notes.draft', `${path}/notes/draft`, { save: true });
  await did('releases.stage', `${path}/stage`, { stage: 'staging' });
  await did('releases.publish', `${path}/publish`);
  await did('releases.rollback', `${path}/rollback`, { reason: 'Saving loses comments.' });

  const dropped = await did('releases.create', `${v1}/releases`, { ...plan, name: 'Summer', tag: '2.6.0' });
  await did('releases.issues.add', `${v1}/releases/${dropped.id}/issues`, { issueIds: [issue.id] });
  await did('releases.issues.remove', `${v1}/releases/${dropped.id}/issues/remove`, { issueIds: [issue.id] });
  await did('releases.delete', `${v1}/releases/${dropped.id}`);
  const empty = await did('pipelines.create', `${v1}/pipelines`, { name: 'Viewer' });
  await did('pipelines.delete', `${v1}/pipelines/${empty.id}`);
}
