// Operations of automations and their hosts.
import type { Json } from '../../app.ts';
import type { Setting } from './all.ts';

const v1 = '/api/v1';

export async function automationOperations({ app, did }: Setting): Promise<void> {
  const hosts = `${v1}/automation-hosts`;
  const host = await did('automation-hosts.create', hosts, {
    name: 'chat',
    origin: 'https://chat.acme.example',
    header: 'authorization',
  });
  await did('automation-hosts.set-secret', `${hosts}/${host.id}/secret`, { value: 'chat-secret-1' });
  await did('automation-hosts.list', hosts);
  await did('automation-hosts.get', `${hosts}/${host.id}`);
  await did('automation-hosts.update', `${hosts}/${host.id}`, { path: '/v1/' });

  const rules = `${v1}/automations`;
  const rule = {
    trigger: { type: 'event', event: 'issue.created', filter: { title: { contains: 'by a rule' } } },
    actions: [{ type: 'set', fields: { priority: 'high' } }],
  };
  await did('automations.suggest', `${rules}/suggestions`, { days: 30 });
  await did('automations.preview', `${rules}/preview`, rule);
  const { id } = await did('automations.create', rules, { ...rule, name: 'Triage', probation: false });
  const one = `${rules}/${id}`;
  await did('automations.list', rules);
  await did('automations.templates', `${rules}/templates`);
  await did('automations.get', one);
  await did('automations.update', one, { conditions: { issue: { priority: 'none' } } });
  await did('automations.revisions', `${one}/revisions`);
  await did('automations.restore', `${one}/restore`, { revision: 1 });
  await did('automations.enable', `${one}/enable`, { force: true });
  const { json: issue }: { json: Json } = await app.call('POST', `${v1}/issues`, {
    team: 'DOC',
    title: 'Changed by a rule',
  });
  await app.settled();
  await did('automations.simulate', `${one}/simulate`, { issue: issue.id });
  await did('automations.run', `${one}/run`, { issue: issue.id });
  await did('automations.health', `${one}/health`);
  const { id: copyId } = await did('automations.duplicate', `${one}/duplicate`, { name: 'Another' });
  await did('automations.disable', `${one}/disable`);
  await did('automations.update', `${rules}/${copyId}`, {
    trigger: { type: 'webhook' },
    issues: { filter: {} },
  });
  await did('automations.open-webhook', `${rules}/${copyId}/webhook`);
  await did('automations.close-webhook', `${rules}/${copyId}/webhook`);
  await did('automations.delete', `${rules}/${copyId}`);
  await did('automation-hosts.delete', `${hosts}/${host.id}`);
}
