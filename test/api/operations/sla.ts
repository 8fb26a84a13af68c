// Service levels with clocks in every state.
import type { Json } from '../../app.ts';
import type { Setting } from './all.ts';

const minuteMs = 60_000;

export async function slaOperations({ app, did }: Setting): Promise<void> {
  const v1 = '/api/v1';
  const policy = await did('sla-policies.create', `${v1}/sla-policies`, {
    name: 'Sweeping in an hour',
    filter: { title: { startsWith: 'Sweep' } },
    targetMinutes: 60,
    atRiskMinutes: 30,
    pausedIn: ['backlog'],
  });
  const states: Json[] = (await app.call('GET', `${v1}/workflows?team=DOC`)).json.data;
  const file = async (): Promise<string> =>
    (await app.call('POST', `${v1}/issues`, { team: 'DOC', title: 'Sweep' })).json.id;
  const move = async (id: string, type: string): Promise<void> => {
    const { id: stateId } = states.find((state) => state.type === type);
    await app.call('PATCH', `${v1}/issues/${id}`, { stateId });
    await app.settled();
  };
  const [late, early, left] = [await file(), await file(), await file()];
  await app.settled();
  await move(early, 'started');
  await move(early, 'completed');
  await move(late, 'started');
  await move(late, 'backlog');
  await move(late, 'started');
  app.clock.advance(30 * minuteMs);
  await app.settled();
  app.clock.advance(30 * minuteMs);
  await app.settled();
  await move(late, 'completed');
  await did('sla.list', `${v1}/issues/${late}/sla`);
  await did('sla.clocks', `${v1}/sla-clocks?state=breached`);
  await did('sla-policies.delete', `${v1}/sla-policies/${policy.id}`);
  await app.settled();
  for (const id of [late, early, left]) await app.call('DELETE', `${v1}/issues/${id}`);
}
