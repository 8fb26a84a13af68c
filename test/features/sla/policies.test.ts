import { expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { hourMs, slaOfFile } from './setting.ts';

const { sla, policy } = await slaOfFile();
const dueIn = (hours: number): string => new Date(sla.app.clock.now() + hours * hourMs).toISOString();
const issuesBy = async (query: string): Promise<string[]> =>
  (await sla.app.call('GET', `/api/v1/issues?${query}`)).json.data.map(({ id }: Json) => id);
const byFilter = (filter: object): string => `filter=${encodeURIComponent(JSON.stringify(filter))}`;

test('the first matching policy applies, and its time starts when the issue comes under it', async () => {
  const usual = await policy({ name: 'Usual', position: 5, targetMinutes: 24 * 60 });
  const urgent = await policy({
    name: 'Urgent',
    position: 2,
    filter: { priority: 'urgent' },
    targetMinutes: 60,
  });
  await policy({ name: 'Off', position: 0, enabled: true }).then(({ id }) =>
    sla.app.call('PATCH', `/api/v1/sla-policies/${id}`, { enabled: false }),
  );
  const issue = await sla.file();
  expect(issue.slaDueAt).toBe(dueIn(24));
  await sla.pass(2 * hourMs);
  await sla.change(issue, { priority: 'urgent' });
  expect(await sla.dueAt(issue)).toBe(dueIn(1));
  await sla.change(issue, { title: 'Another' });
  expect((await sla.clocks(issue)).map((clock) => [clock.policy.id, clock.state])).toEqual([
    [usual.id, 'canceled'],
    [urgent.id, 'running'],
  ]);
  expect(await sla.eventTypes(issue)).toEqual(['started', 'canceled', 'started']);
  expect(
    (await sla.make('/sla-policies', { name: 'Last', targetMinutes: 1, filter: { title: 'none such' } }))
      .position,
  ).toBe(6);
});

test('a policy on a custom field applies only to issues with a matching value', async () => {
  const options = ['low', 'high'].map((value) => ({ value, name: value }));
  const field = await sla.make('/fields', { key: 'severity', name: 'Severity', type: 'select', options });
  await policy({ name: 'High', position: 1, filter: { 'fields.severity': 'high' }, targetMinutes: 60 });
  await policy({ name: 'Not low', position: 2, filter: { 'fields.severity': { neq: 'low' } } });
  const fileAs = (severity: string): Promise<Json> => sla.file({ fields: { severity } });
  const high = await fileAs('high');
  const low = await fileAs('low');
  expect([high.slaDueAt, low.slaDueAt, (await sla.file()).slaDueAt]).toEqual([dueIn(1), null, dueIn(4)]);
  await sla.change(low, { fields: { severity: 'high' } });
  expect(await sla.dueAt(low)).toBe(dueIn(1));
  // Without the field no issue matches, and with the restored field some match again.
  await sla.app.call('DELETE', `/api/v1/fields/${field.id}`);
  await sla.change(high, { title: 'Without its severity' });
  expect(await sla.dueAt(high)).toBe(dueIn(4));
  await sla.make(`/fields/${field.id}/restore`, {});
  await sla.change(high, { title: 'With its severity' });
  expect(await sla.dueAt(high)).toBe(dueIn(1));
});

test('a reply by another member or completion ends a first response, and the issue is due by the earliest clock', async () => {
  await policy({ kind: 'first_response', targetMinutes: 30 });
  await policy({ kind: 'resolution', targetMinutes: 60 });
  const issue = await sla.file();
  const other = await sla.file();
  expect(issue.slaDueAt).toBe(dueIn(0.5));
  await sla.make(`/issues/${issue.id}/comments`, { body: 'Is anybody there?' });
  await sla.app.settled();
  expect(await sla.eventTypes(issue, 'first_response')).toEqual(['started']);
  const member = await sla.make('/members', { name: 'Ben', role: 'member' });
  const { key } = await sla.make('/api-keys', {
    name: 'ben',
    memberId: member.id,
    scopes: ['comments:write', 'issues:read'],
  });
  await sla.app.clientOf(key)('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'I am.' });
  await sla.app.settled();
  expect(await sla.eventTypes(issue, 'first_response')).toEqual(['started', 'met']);
  expect(await sla.dueAt(issue)).toBe(dueIn(1));
  await sla.change(issue, { priority: 'high' });
  await sla.move(other, 'completed');
  for (const one of [issue, other])
    expect(await sla.eventTypes(one, 'first_response')).toEqual(['started', 'met']);
});

test('lists sort and filter by due time, earliest first and missing last', async () => {
  await policy({ filter: { priority: 'high' }, targetMinutes: 600 });
  await policy({ filter: { priority: 'urgent' }, targetMinutes: 60 });
  const [none, high, urgent] = [
    await sla.file({ title: 'none' }),
    await sla.file({ priority: 'high' }),
    await sla.file({ priority: 'urgent' }),
  ].map(({ id }) => id);
  expect(await issuesBy('sort=slaDueAt&limit=2')).toEqual([urgent, high]);
  expect(await issuesBy(byFilter({ slaDueAt: { null: false } }) + '&sort=slaDueAt')).toEqual([urgent, high]);
  expect(await issuesBy(byFilter({ slaDueAt: { lte: 'PT1H' } }))).toEqual([urgent]);
  expect(await issuesBy('sort=slaDueAt')).toContain(none!);
});

test('all clocks of a deleted policy are canceled, and no new ones start', async () => {
  const { id } = await policy({ filter: { label: 'bug' }, targetMinutes: 600 });
  const body = {
    issues: Array.from({ length: 60 }, (_, n) => ({ team: 'ENG', title: `Bug ${n}`, labels: ['bug'] })),
  };
  const { data } = (await sla.app.call('POST', '/api/v1/issues/bulk', body)).json;
  await sla.app.settled();
  const due = byFilter({ slaDueAt: { null: false } });
  expect((await issuesBy(`${due}&limit=100`)).length).toBe(60);
  const last = await sla.app.lastSequence();
  await Promise.all([
    sla.app.call('DELETE', `/api/v1/sla-policies/${id}`),
    sla.app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Bug in between', labels: ['bug'] }),
  ]);
  await sla.app.settled();
  expect(await issuesBy(due)).toEqual([]);
  const types = await sla.app.eventTypes(last);
  const started = types.filter((type) => type === 'sla.started').length;
  expect(types.filter((type) => type === 'sla.canceled').length).toBe(60 + started);
  expect((await sla.clocks(data[0])).map(({ state }) => state)).toEqual(['canceled']);
  await sla.pass(11 * hourMs);
  expect(await sla.app.eventTypes(last)).not.toContain('sla.breached');
});

test('one of a concurrent use and deletion of a calendar is rejected', async () => {
  for (let round = 0; round < 5; round++) {
    const hours = { monday: [{ from: '09:00', to: '17:00' }] };
    const { id } = await sla.make('/calendars', { name: 'Short-lived', timeZone: 'UTC', hours });
    const [created, deleted] = await Promise.all([
      sla.app.call('POST', '/api/v1/sla-policies', {
        name: 'Late',
        targetMinutes: 5,
        calendarId: id,
        filter: { title: 'x' },
      }),
      sla.app.call('DELETE', `/api/v1/calendars/${id}`),
    ]);
    expect([
      [201, 409],
      [422, 204],
    ]).toContainEqual([created.status, deleted.status]);
  }
});

test('an invalid policy is rejected with the field and the reason', async () => {
  const day = (from: string, to: string) => ({ monday: [{ from, to }] });
  const calendar = { name: 'C', timeZone: 'Europe/Zagreb', hours: day('09:00', '17:00') };
  const { id: calendarId } = await sla.make('/calendars', { ...calendar, hours: day('09:00', '09:01') });
  const refused: [string, object, string][] = [
    ['calendars', { ...calendar, timeZone: 'Europe/Zagrab' }, 'timeZone not_found'],
    ['calendars', { ...calendar, hours: {} }, 'hours too_short'],
    ['calendars', { ...calendar, hours: day('17:00', '09:00') }, 'hours.monday.0 conflict'],
    [
      'calendars',
      { ...calendar, hours: { monday: [...day('09:00', '12:00').monday, ...day('11:00', '13:00').monday] } },
      'hours.monday.1 conflict',
    ],
    ['calendars', { ...calendar, holidays: ['2027-02-30'] }, 'holidays.0 invalid_format'],
    ['sla-policies', { name: 'P', targetMinutes: 60, atRiskMinutes: 60 }, 'atRiskMinutes too_big'],
    ['sla-policies', { name: 'P', targetMinutes: 6_000, calendarId }, 'targetMinutes too_big'],
    [
      'sla-policies',
      { name: 'P', targetMinutes: 60, filter: { label: 'no such' } },
      'filter.label not_found',
    ],
    ['sla-policies', { name: 'P', targetMinutes: 60, pausedIn: ['asleep'] }, 'pausedIn.0 not_found'],
  ];
  for (const [path, body, expected] of refused) {
    const { status, json } = await sla.app.call('POST', `/api/v1/${path}`, body);
    const [detail] = json.error.details;
    expect([status, `${detail.path} ${detail.issue}`]).toEqual([422, expected]);
  }
});

test('a purged issue deletes its clocks', async () => {
  await policy({});
  const issue = await sla.file();
  await sla.app.call('DELETE', `/api/v1/issues/${issue.id}`);
  expect((await sla.app.call('POST', `/api/v1/issues/${issue.id}/purge`)).status).toBe(204);
  await sla.pass(24 * hourMs);
  expect((await sla.app.call('GET', `/api/v1/issues/${issue.id}/sla`)).status).toBe(404);
  expect(sla.app.logs.filter(({ level }) => level === 'error')).toEqual([]);
});
