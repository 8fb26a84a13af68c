// Attacks 20 to 28: until nothing is left for others. Those of a lost process, of 27 and 28, are made to the server by tests alone.
import type { Hostile } from './case.ts';

export const exhaustions: readonly Hostile[] = [
  // It takes as long as a run may, beside which the others are made.
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
