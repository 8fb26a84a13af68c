// Attacks 1 to 19: leave the isolate, abuse the bridge, or act as another run.
import type { Hostile } from './case.ts';

const walk = `
const seen = new Set();
const walk = (value, path, look) => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
  seen.add(value);
  look(value, path);
  for (const key of Reflect.ownKeys(value)) {
    try { walk(value[key], path + '.' + String(key), look); } catch {}
  }
  walk(Object.getPrototypeOf(value), path + '.__proto__', look);
};`;
const roots = `
const error = await ctx.issues.get('fail').catch((caught) => caught);
const roots = { event, ctx, error, promise: ctx.issues.get(stranger).catch(() => {}), args: (function () { return arguments; })(), global: globalThis };
await roots.promise;`;

export const escapes: readonly Hostile[] = [
  {
    group: 1,
    name: 'constructors',
    ends: 'harmless',
    prelude: walk,
    body: `${roots}
      for (const name in roots) walk(roots[name], name, (value, path) => {
        const make = value.constructor;
        if (typeof make !== 'function' || typeof make.constructor !== 'function') return;
        try {
          if (make.constructor('return typeof process !== "undefined" || typeof require !== "undefined"')()) found.push(path);
        } catch {}
      });`,
  },
  {
    group: 2,
    name: 'references',
    ends: 'harmless',
    prelude: walk,
    body: `${roots}
      for (const name in roots) walk(roots[name], name, (value, path) => {
        for (const member of ['getSync', 'deref', 'applySync', 'applySyncPromise', 'derefInto'])
          if (member in value && !path.endsWith('Reflect')) found.push(path + '.' + member);
      });`,
  },
  {
    group: 3,
    name: 'prototype-options',
    ends: 'harmless',
    body: `const options = ['reference', 'result', 'arguments', 'promise', 'externalCopy', 'copy', 'timeout', 'release'];
      for (const name of options) Object.prototype[name] = true;
      const issue = await ctx.issues.get(event.data.id);
      for (const name of options) delete Object.prototype[name];
      if (typeof issue !== 'object' || typeof issue.title !== 'string') found.push(typeof issue);`,
  },
  {
    group: 4,
    name: 'patched-builtins',
    ends: 'harmless',
    body: `Object.defineProperty(Array.prototype, '0', { set() { found.push('setter'); }, get() { return undefined; }, configurable: true });
      const then = Promise.prototype.then;
      Promise.prototype.then = new Proxy(then, { apply: (target, self, args) => Reflect.apply(target, self, args) });
      JSON.stringify = () => found.push('stringify');
      JSON.parse = () => found.push('parse');
      Function.prototype.call = () => found.push('call');
      String.prototype.slice = () => found.push('slice');
      const issue = await ctx.issues.get(event.data.id);
      delete Array.prototype[0];
      if (issue.id !== event.data.id) found.push('another issue');`,
  },
  {
    group: 5,
    name: 'call-sites',
    ends: 'harmless',
    body: `Error.prepareStackTrace = (error, sites) => {
        for (const site of sites) {
          const fn = site.getFunction();
          if (typeof fn === 'function') found.push('function ' + fn.name);
          const self = site.getThis();
          if (self !== undefined && self !== globalThis) found.push('this');
        }
        return '';
      };
      void new Error('look').stack;
      await ctx.issues.get('fail').catch((error) => void error.stack);
      Error.prepareStackTrace = undefined;`,
  },
  {
    group: 6,
    name: 'callers',
    ends: 'harmless',
    body: `const look = new Function('found', "try { const own = arguments.callee; if (typeof own.caller === 'function') found.push('caller ' + own.caller.name); } catch {}");
      look(found);
      for (const name of ['caller', 'callee', 'arguments']) {
        try { if (ctx.issues.get[name]) found.push(name); } catch {}
      }`,
  },
  {
    group: 7,
    name: 'host-errors',
    ends: 'harmless',
    body: `const failures = await Promise.all([
        ctx.issues.get("' OR 1=1 --").catch((error) => error),
        ctx.issues.list({ filter: { nothing: 1 } }).catch((error) => error),
        ctx.issues.update(event.data.id, { priority: 7 }).catch((error) => error),
      ]);
      for (const failure of failures)
        if (/SELECT|workspace_id|node:|\\/core\\/|node_modules/.test(failure.message + failure.stack)) found.push(failure.message);`,
  },
  {
    group: 8,
    name: 'async-stacks',
    ends: 'harmless',
    body: `const deep = async (left) => { if (left > 0) { await null; return deep(left - 1); } return ctx.issues.get('fail'); };
      const error = await deep(5).catch((caught) => caught);
      if (/sidecar|isolated-vm|node:|file:/.test(String(error.stack))) found.push(error.stack);`,
  },
  {
    group: 9,
    name: 'stack-overflow',
    ends: 'either',
    body: `const dive = () => { try { dive(); } catch { void ctx.issues.get('fail').catch(() => {}); } };
      dive();`,
  },
  {
    group: 10,
    name: 'thrown-message',
    ends: 'stopped',
    body: `throw { get message() { for (;;); }, get name() { for (;;); } };`,
  },
  {
    group: 10,
    name: 'thrown-range-error',
    ends: 'stopped',
    body: `class RangeError extends Error {} throw new RangeError('fake');`,
  },
  { group: 10, name: 'thrown-nothing', ends: 'stopped', body: `throw undefined;` },
  {
    group: 10,
    name: 'thrown-proxy',
    ends: 'stopped',
    body: `throw new Proxy({}, { get() { throw null; } });`,
  },
  { group: 10, name: 'thrown-long', ends: 'stopped', body: `throw new Error('x'.repeat(16e6));` },
  {
    group: 11,
    name: 'odd-arguments',
    ends: 'either',
    body: `const cyclic = {}; cyclic.self = cyclic;
      let deep = {}; for (let i = 0; i < 1e5; i++) deep = { deep };
      const sparse = []; sparse.length = 2 ** 31;
      for (const odd of [cyclic, deep, 1n, sparse, { toJSON() { throw new Error('no'); } }, new Proxy({}, { ownKeys() { throw 1; } })])
        await ctx.issues.update(event.data.id, odd).then(() => found.push('taken'), () => {});`,
  },
  { group: 11, name: 'odd-result', ends: 'stopped', body: `return { get then() { for (;;); } };` },
  {
    group: 12,
    name: 'proto-keys',
    ends: 'harmless',
    body: `await ctx.kv.set('attack', JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'));
      await ctx.issues.update(event.data.id, JSON.parse('{"__proto__":{"priority":"urgent"}}')).catch(() => {});
      if ({}.admin) found.push('polluted');`,
  },
  {
    group: 13,
    name: 'buffers',
    ends: 'harmless',
    body: `for (const name of ['resize', 'transfer', 'transferToFixedLength']) if (name in ArrayBuffer.prototype) found.push(name);
      if (new ArrayBuffer(8, { maxByteLength: 64 }).resizable) found.push('resizable');`,
  },
  {
    group: 14,
    name: 'imports',
    ends: 'harmless',
    body: `for (const name of ['node:fs', 'fs', 'isolated-vm', 'data:text/javascript,1'])
        await import(name).then(() => found.push(name), () => {});
      if (typeof require !== 'undefined') found.push('require');
      for (const key of Object.keys(import.meta)) found.push('import.meta.' + key);`,
  },
  {
    group: 15,
    name: 'scopes-of-eval',
    ends: 'harmless',
    body: `for (const name of ['require', 'module', 'exports', 'process', '__step', 'ivm', 'Buffer', 'Bun', 'tatamiBridge', '__sdk'])
        if ((0, eval)('typeof ' + name) !== 'undefined' || new Function('return typeof ' + name)() !== 'undefined') found.push(name);`,
  },
  {
    group: 16,
    name: 'absent-globals',
    ends: 'harmless',
    body: `for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry', 'WeakRef', 'Worker'])
        if (typeof globalThis[name] !== 'undefined') found.push(name);`,
  },
  {
    group: 17,
    name: 'engine-doors',
    ends: 'harmless',
    body: `for (const name of ['gc', 'd8', 'inspector', '%DebugPrint', 'createSnapshot', 'cachedData', 'console.context'])
        if (name in globalThis) found.push(name);
      try { (0, eval)('%GetHeapUsage()'); found.push('natives'); } catch {}`,
  },
  {
    group: 18,
    name: 'forged-run',
    ends: 'harmless',
    body: `for (const name of ['id', 'installId', 'mode', 'depth', 'rootEventId']) {
        try { ctx.run[name] = 'forged'; } catch {}
        if (ctx.run[name] === 'forged') found.push('run.' + name);
      }
      try { ctx.issues.get = () => found.push('replaced'); } catch {}
      await ctx.issues.get(event.data.id);`,
  },
  {
    group: 19,
    name: 'call-after-end',
    ends: 'harmless',
    runs: 2,
    prelude: 'let kept;',
    body: `if (kept) {
        const late = await kept.issues.get(event.data.id).then(() => 'answered', (error) => error.code);
        if (late !== 'run_ended') found.push(late);
      }
      kept = ctx;`,
  },
];
