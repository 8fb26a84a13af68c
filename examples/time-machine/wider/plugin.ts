// Version 1.1.0: requests comments:write, explains its labels, and labels slowness as a bug.
import { definePlugin } from '@tatami/sdk/plugin';

export default definePlugin({
  id: 'kind-by-title',
  version: '1.1.0',
  engines: { tatami: '*' },
  scopes: {
    'issues:write': { why: 'label new issues', fields: ['labels'] },
    'comments:write': { why: 'say why it chose the label' },
  },
  on: {
    'issue.created': {
      async handle({ data }, { issues, comments }) {
        const label = /crash|error|fail|throws|slow/i.test(data.title)
          ? 'bug'
          : /^(how|why|what|where)\b|\?$/i.test(data.title)
            ? 'question'
            : 'feature';
        await issues.update(data.id, { addLabels: [label] });
        await comments.create(data.id, { body: `The title reads like a ${label}.` });
      },
    },
  },
});
