import type { Setting } from './all.ts';

export async function cycleOperations({ app, did, team, issue }: Setting): Promise<void> {
  const v1 = '/api/v1';
  const createCycle = (from: string, to: string) =>
    did('cycles.create', `${v1}/cycles`, {
      team: 'DOC',
      startsAt: `2031-${from}T00:00:00Z`,
      endsAt: `2031-${to}T00:00:00Z`,
    });
  const first = await createCycle('03-03', '03-17');
  const second = await createCycle('03-17', '03-31');
  const third = await createCycle('03-31', '04-14');
  await did('cycles.list', `${v1}/cycles?team=DOC&status=upcoming`);
  await did('cycles.get', `${v1}/cycles/${first.id}`);
  await did('cycles.update', `${v1}/cycles/${first.id}`, { description: 'The editor saves.' });
  await did('issues.update', `${v1}/issues/${issue.id}`, { cycleId: first.id });
  await did('cycles.start', `${v1}/cycles/${first.id}/start`);
  await did('cycles.complete', `${v1}/cycles/${first.id}/complete`);
  await app.settled();
  await did('cycles.progress', `${v1}/cycles/${first.id}/progress`);
  await did('cycles.rollovers', `${v1}/cycles/${first.id}/rollovers`);
  await did('cycles.delete', `${v1}/cycles/${third.id}`);
  await did('issues.update', `${v1}/issues/${issue.id}`, { cycleId: null });
  await did('cycles.delete', `${v1}/cycles/${second.id}`);
  await did('teams.update', `${v1}/teams/${team.id}`, { timeZone: 'Europe/Zagreb' });
  await did('teams.archive', `${v1}/teams/${team.id}/archive`);
  await did('teams.unarchive', `${v1}/teams/${team.id}/unarchive`);
}
