import type { Setting } from './all.ts';

const v1 = '/api/v1';

export async function relationOperations({ app, did, team, issue, parent }: Setting): Promise<void> {
  const { id: other } = (
    await app.call('POST', `${v1}/issues`, { team: team.key, title: 'The index is stale' })
  ).json;
  const path = `${v1}/issues/${issue.id}/relations`;
  const relation = await did('relations.create', path, { type: 'blocks', issueId: other });
  await did('relations.list', path);
  await did('relations.get', `${v1}/relations/${relation.id}`);
  await did('relations.delete', `${v1}/relations/${relation.id}`);
  await app.call('PATCH', `${v1}/issues/${other}`, { parentId: parent.id });
  await did('issues.reorder', `${v1}/issues/${other}/reorder`, { after: issue.id });
  await app.call('POST', `${v1}/teams`, { key: 'SUP', name: 'Support' });
  await did('issues.move', `${v1}/issues/${other}/move`, { team: 'SUP' });
  await triageOperations({ app, did });
  const template = await did('templates.create', `${v1}/templates`, {
    name: 'Bug report',
    team: team.key,
    description: '## Steps',
    priority: 'high',
    labels: ['bug'],
    subIssues: ['Write a failing test', 'Mend it'],
  });
  await did('templates.get', `${v1}/templates/${template.id}`);
  await did('templates.update', `${v1}/templates/${template.id}`, { estimate: 2 });
  await did('templates.list', `${v1}/templates?team=${team.key}`);
  await did('templates.delete', `${v1}/templates/${template.id}`);
}

async function triageOperations({ app, did }: Pick<Setting, 'app' | 'did'>): Promise<void> {
  const { json } = await app.call('GET', `${v1}/workflows?team=SUP`);
  const stateId = json.data.find(({ type }: { type: string }) => type === 'triage').id;
  const incoming = async (title: string): Promise<string> => {
    const { id } = (await app.call('POST', `${v1}/issues`, { team: 'SUP', title, stateId })).json;
    return `${v1}/issues/${id}/triage`;
  };
  const [wanted, unwanted] = [await incoming('Export as CSV'), await incoming('Make the logo bigger')];
  await did('issues.triage.snooze', `${wanted}/snooze`, { until: '2027-01-11T09:00:00Z' });
  await did('issues.triage.accept', `${wanted}/accept`, { priority: 'medium' });
  await did('issues.triage.decline', `${unwanted}/decline`, { reason: 'It is as big as it gets.' });
}
