// The types a plugin's author meets (checked by `bun check`), and the errors' `instanceof`.
import { expect, test } from 'bun:test';
import { Conflict, definePlugin, Drop, PluginError, RetryLater } from './index.ts';

test('ctx has the members of the declared scopes and no others', () => {
  const plugin = definePlugin({
    id: 'com.acme.types',
    version: '1.0.0',
    engines: { tatami: '^0.1' },
    scopes: { 'issues:write': { why: 'to set the priority' }, 'comments:read': { why: 'to read' } },
    on: {
      'issue.created': {
        filter: { priority: ['none'] },
        async handle(event, ctx) {
          const issue = await ctx.issues.get(event.data.id);
          await ctx.issues.update(issue.id, { priority: 'high' }, { ifVersion: issue.version });
          await ctx.comments.list(issue.id);
          // @ts-expect-error comments:write is not declared
          await ctx.comments.create(issue.id, { body: 'no' });
          // @ts-expect-error labels:read is not declared
          await ctx.labels.list();
        },
      },
    },
    schedules: {
      nightly: { cron: '0 3 * * *', handle: async (_event, ctx) => void (await ctx.kv.set('at', ctx.now())) },
    },
  });
  expect(Object.keys(plugin.on ?? {})).toEqual(['issue.created']);
});

test('errors are told apart by code, so errors of the host match too', () => {
  const fromHost = Object.assign(new Error('It has changed.'), { code: 'conflict' });
  expect(fromHost instanceof Conflict).toBe(true);
  expect(fromHost instanceof Drop).toBe(false);
  expect(fromHost instanceof PluginError).toBe(true);
  expect(new RetryLater(5) instanceof RetryLater).toBe(true);
  expect(new RetryLater(5)).toMatchObject({ code: 'retry_later', afterMs: 5, name: 'RetryLater' });
});
