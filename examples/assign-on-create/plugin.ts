/**
 * Assigns each new issue without an assignee to the next member of `settings.assignees` (member ids). The
 * code is formatted to fit ten lines.
 */
import { definePlugin } from '@tatami/sdk/plugin';
// prettier-ignore
export default definePlugin<'issues:write', { assignees: string[] }>({
  id: 'assign-on-create', version: '1.0.0', engines: { tatami: '*' },
  scopes: { 'issues:write': { why: 'assign new issues', fields: ['assigneeId'] } },
  settings: { type: 'object', properties: { assignees: { type: 'array', items: { type: 'string' }, default: [] } } },
  on: { 'issue.created': { filter: { assignee: { null: true } }, async handle({ data }, { issues, kv, settings }) {
    const next = settings.assignees[(await kv.increment('turn')) % settings.assignees.length];
    if (next !== undefined) await issues.update(data.id, { assigneeId: next });
  } } },
});
