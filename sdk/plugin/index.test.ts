// Types for plugin authors (checked by `bun check`), and `instanceof` of the errors.
import { expect, test } from 'bun:test';
import { Conflict, definePlugin, Drop, PluginError, RetryLater, type Context } from './index.ts';

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

type Ctx = Context<'issues:write' | 'comments:write', object>;

test('a call takes the input of its operation, and returns its output', () => {
  const uses = async (ctx: Ctx): Promise<unknown> => {
    // @ts-expect-error a description is empty, never null
    await ctx.issues.update('iss_1', { description: null });
    // @ts-expect-error the field does not exist
    await ctx.issues.update('iss_1', { colour: 'red' });
    // @ts-expect-error a new issue needs a title
    await ctx.issues.create({ team: 'ENG' });
    // @ts-expect-error the parameter does not exist
    await ctx.issues.list({ colour: 'red' });
    const created = await ctx.issues.create({ team: 'ENG', title: 'One', assigneeId: null });
    // @ts-expect-error a creation returns five fields
    void created.state;
    // @ts-expect-error a staged issue has no URL yet
    created.url.startsWith('https:');
    const page = await ctx.issues.list({ filter: { priority: ['none'] }, limit: 5 });
    for (const { state, creator } of page.data) void [state.type, creator.kind];
    const chosen = await ctx.issues.list({ fields: ['title', 'team'] });
    // @ts-expect-error only the id is always selected
    for (const { team } of chosen.data) void team.key;
    await ctx.comments.resolve('cmt_1', { ifVersion: 2 });
    // Name used by packages that are already installed.
    return ctx.comments.create('iss_1', { body: 'kept', parentId: null });
  };
  expect(uses).toBeFunction();
});

test('a plugin subscribes to existing event types, and reads their data', () => {
  const plugin = definePlugin({
    id: 'com.acme.events',
    version: '1.0.0',
    engines: { tatami: '*' },
    scopes: { 'issues:read': { why: 'to read' }, 'comments:read': { why: 'to read' } },
    on: {
      'issue.labeled': {
        handle: ({ data }) => void [data.labels.map(({ name }) => name), data.previous.labels?.length],
      },
      'comment.added': { handle: ({ data }) => void [data.body.length, data.issue.id] },
      // @ts-expect-error the event type does not exist
      'issue.exploded': { handle() {} },
    },
  });
  expect(Object.keys(plugin.on ?? {})).toHaveLength(3);
  const unknown = { id: 'com.acme.scopes', version: '1.0.0', engines: { tatami: '*' } };
  // @ts-expect-error the scope does not exist
  expect(definePlugin({ ...unknown, scopes: { 'issue:read': { why: 'to read' } } }).id).toBe(unknown.id);
});

test('errors are distinguished by code, so errors of the host match too', () => {
  const fromHost = Object.assign(new Error('It has changed.'), { code: 'conflict' });
  expect(fromHost instanceof Conflict).toBe(true);
  expect(fromHost instanceof Drop).toBe(false);
  expect(fromHost instanceof PluginError).toBe(true);
  expect(new RetryLater(5) instanceof RetryLater).toBe(true);
  expect(new RetryLater(5)).toMatchObject({ code: 'retry_later', afterMs: 5, name: 'RetryLater' });
});
