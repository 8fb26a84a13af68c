// Attacks 36 to 41: to do, in good order, what was not granted. Those that need another caller or a second plugin: `scenes.ts`.
import type { Hostile } from './case.ts';

const readsIssues = { 'issues:read': { why: 'an attack of the suite' } };

export const authority: readonly Hostile[] = [
  {
    group: 36,
    name: 'strangers-objects',
    ends: 'harmless',
    body: `const asked = {
        get: ctx.issues.get(stranger), update: ctx.issues.update(stranger, { priority: 'urgent' }),
        comment: ctx.comments.create(stranger, { body: 'x' }), comments: ctx.comments.list(stranger),
        parent: ctx.issues.update(event.data.id, { parentId: stranger }), move: ctx.issues.move(stranger, { team: 'ENG' }),
      };
      for (const name in asked) await asked[name].then(() => found.push(name), () => {});
      await ctx.issues.list({ cursor: stranger }).then(() => found.push('cursor'), () => {});
      const keys = await ctx.kv.list({ prefix: '' });
      if (keys.data.length > 0) found.push('keys of another');`,
  },
  {
    group: 37,
    name: 'scopes-not-held',
    ends: 'harmless',
    scopes: readsIssues,
    body: `await ctx.issues.update(event.data.id, { priority: 'urgent' }).then(() => found.push('update'), () => {});
      for (const name of ['comments', 'projects', 'labels', 'attachments'])
        await ctx[name].list(event.data.id).then(() => found.push(name), () => {});
      if (ctx.has('issues:write')) found.push('has');`,
  },
  {
    group: 37,
    name: 'fields-not-held',
    ends: 'harmless',
    scopes: { 'issues:write': { why: 'an attack of the suite', fields: ['estimate'] } },
    body: `for (const patch of [{ title: 'taken' }, { priority: 'urgent' }, { estimate: 1, title: 'taken' }])
        await ctx.issues.update(event.data.id, patch).then(() => found.push(Object.keys(patch).join()), () => {});
      await ctx.issues.create({ team: 'ENG', title: 'made' }).then(() => found.push('create'), () => {});`,
  },
  {
    group: 37,
    name: 'approves-itself',
    ends: 'harmless',
    body: `for (const name of ['proposals', 'approvals', 'plugins', 'apiKeys', 'members', 'workspaces', 'runs', 'undos', 'backtests'])
        if (ctx[name]) found.push(name);
      for (const scope of ['approvals:write', 'proposals:write', 'plugins:write']) if (ctx.has(scope)) found.push(scope);`,
  },
  {
    group: 40,
    name: 'back-and-forth',
    ends: 'stopped',
    isLoop: true,
    body: `await ctx.issues.update(event.data.id, { estimate: event.data.estimate === 1 ? 2 : 1 });`,
  },
  {
    group: 40,
    name: 'own-events',
    ends: 'stopped',
    isLoop: true,
    code: 'loop_path',
    body: `await ctx.issues.update(event.data.id, { estimate: ((event.data.estimate ?? 0) + 1) % 100 });`,
  },
  {
    group: 41,
    name: 'odd-values',
    ends: 'harmless',
    body: `for (const key of ['', '../other', 'a/b', '\\ud800', 'x'.repeat(300), '__proto__/x', 7, null])
        await ctx.kv.set(key, 1).then(() => found.push('key ' + String(key).slice(0, 10)), () => {});
      await ctx.kv.set('list', [1]);
      await ctx.kv.increment('list').then(() => found.push('increment'), () => {});
      await ctx.kv.increment('count', '1').then(() => found.push('by a text'), () => {});
      await ctx.kv.delete('list');`,
  },
  {
    group: 41,
    name: 'more-than-the-quota',
    ends: 'either',
    body: `const long = 'x'.repeat(200_000);
      let kept = 0;
      for (let i = 0; i < 90; i++) await ctx.kv.set('long-' + i, long).then(() => kept++, () => {});
      if (kept * 200_000 > 16 * 1024 * 1024) found.push(kept + ' values');`,
  },
];
