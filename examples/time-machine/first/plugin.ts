// Version 1.0.0: labels a new issue by the words of its title.
import { definePlugin } from '@tatami/sdk/plugin';

export default definePlugin({
  id: 'kind-by-title',
  version: '1.0.0',
  engines: { tatami: '*' },
  scopes: { 'issues:write': { why: 'label new issues', fields: ['labels'] } },
  on: {
    'issue.created': {
      async handle({ data }, { issues }) {
        const label = /crash|error|fail|throws/i.test(data.title)
          ? 'bug'
          : /^(how|why|what|where)\b|\?$/i.test(data.title)
            ? 'question'
            : 'feature';
        await issues.update(data.id, { addLabels: [label] });
      },
    },
  },
});
