// Creation of proposals by one caller and decisions of another.
import type { Json } from '../../app.ts';
import type { Setting } from './all.ts';

export async function proposalOperations({ app, did, issue, member }: Setting): Promise<void> {
  const v1 = '/api/v1';
  const { json: key } = await app.call('POST', `${v1}/api-keys`, {
    name: 'agent',
    scopes: ['issues:read', 'proposals:write'],
    memberId: member.id,
  });
  const agent = app.clientOf(key.key);
  const propose = async (patch: object): Promise<Json> => {
    await app.settled();
    const { json } = await agent('PATCH', `${v1}/issues/${issue.id}`, patch, { 'tatami-mode': 'propose' });
    // Each step has its own time, and its notifications are not mixed with those of others.
    await app.settled();
    app.clock.advance(10);
    return `${v1}/proposals/${json.id}`;
  };
  const first = await propose({ priority: 'urgent' });
  await did('proposals.get', first);
  await app.call('PATCH', `${v1}/issues/${issue.id}`, { priority: 'medium' });
  await did('proposals.rerun', `${first}/rerun`);
  await did('proposals.approve', `${first}/approve`, { revision: 2 });
  await did('proposals.undo', `${first}/undo`);
  const second = await propose({ title: 'Saving fails' });
  await did('proposals.reject', `${second}/reject`, { reason: 'The title says what fails.' });
  await did('proposals.list', `${v1}/proposals`);
}
