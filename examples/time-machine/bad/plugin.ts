// Version 2.0.0, a bad release: it labels everything as an urgent question.
import { definePlugin } from '@tatami/sdk/plugin';

export default definePlugin({
  id: 'kind-by-title',
  version: '2.0.0',
  engines: { tatami: '*' },
  scopes: {
    'issues:write': { why: 'label new issues and say how urgent they are', fields: ['labels', 'priority'] },
  },
  on: {
    'issue.created': {
      async handle({ data }, { issues }) {
        await issues.update(data.id, { addLabels: ['question'], priority: 'urgent' });
      },
    },
  },
});
