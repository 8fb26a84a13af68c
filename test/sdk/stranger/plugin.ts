// A plugin as its author writes it.
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
        // @ts-expect-error a created event has no previous values
        void event.data.previous;
      },
    },
    'issue.labeled': {
      async handle(event, ctx) {
        const before: readonly string[] = event.data.previous.labels?.map(({ name }) => name) ?? [];
        ctx.log.info(before.join());
        // @ts-expect-error issues:write is not declared
        await ctx.issues.update(event.data.id, { priority: 'high' });
      },
    },
  },
  routes: {
    build: {
      method: 'POST',
      auth: 'hmac',
      handle: ({ query }) =>
        query['again'] === undefined
          ? {
              status: 201,
              headers: { 'content-type': 'application/json; charset=utf-8', 'x-made': 'yes' },
              body: '{}',
            }
          : { status: 429, headers: { 'retry-after': '60' } },
    },
    // @ts-expect-error the status is invalid
    odd: { method: 'GET', auth: 'public', handle: () => ({ status: 999 }) },
    page: {
      method: 'GET',
      auth: 'public',
      // @ts-expect-error HTML responses are not allowed
      handle: () => ({ status: 200, headers: { 'content-type': 'text/html' } }),
    },
    cookie: {
      method: 'GET',
      auth: 'public',
      // @ts-expect-error cookies are not allowed
      handle: () => ({ status: 200, headers: { 'set-cookie': 'a=b' } }),
    },
  },
});
