// A plugin, as its author's editor sees it.
import { definePlugin } from '@tatami/sdk/plugin';

export default definePlugin({
  id: 'com.acme.greet',
  version: '1.0.0',
  engines: { tatami: '^0.1' },
  scopes: { 'issues:read': { why: 'to see new issues' }, 'comments:write': { why: 'to greet' } },
  on: {
    'issue.created': {
      filter: { priority: ['high', 'urgent'] },
      async handle(event, ctx) {
        const { title, labels } = event.data;
        if (labels.length === 0) await ctx.comments.create(event.data.id, { body: `Thank you for ${title}` });
        // @ts-expect-error nothing was there before
        void event.data.previous;
      },
    },
    'issue.labeled': {
      async handle(event, ctx) {
        const before: readonly string[] = event.data.previous.labels?.map(({ name }) => name) ?? [];
        ctx.log.info(before.join());
        // @ts-expect-error issues:write was not asked for
        await ctx.issues.update(event.data.id, { priority: 'high' });
      },
    },
  },
});
