// Traverses every reachable object to a function of the host.
import { attack, report } from './support/attack.js';

export default attack(async (event, ctx) => {
  const findings = [];
  const seen = new Set();
  const walk = (value, path) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return;
    seen.add(value);
    for (const name of ['getSync', 'deref', 'applySync', 'applySyncPromise', 'derefInto'])
      if (name in value && path !== 'Reflect') findings.push(`${path}.${name}`);
    const make = value.constructor;
    if (typeof make === 'function' && typeof make.constructor === 'function') {
      try {
        if (make.constructor('return typeof process !== "undefined" || typeof require !== "undefined"')())
          findings.push(path);
      } catch {
        // Some constructors create no functions.
      }
    }
    for (const key of Reflect.ownKeys(value)) {
      try {
        walk(value[key], `${path}.${String(key)}`);
      } catch {
        // Some getters reject their receiver.
      }
    }
    walk(Object.getPrototypeOf(value), `${path}.__proto__`);
  };
  const error = await ctx.issues.get('fail').catch((caught) => caught);
  for (const [name, root] of Object.entries({
    event,
    ctx,
    error,
    promise: ctx.issues.get(1),
    args: (function () {
      return arguments;
    })(),
    global: globalThis,
  }))
    walk(root, name);
  for (const name of ['process', 'require', 'module', 'ivm', 'Buffer', 'tatamiBridge', '__sdk', 'Bun'])
    if (name in globalThis) findings.push(name);
  report(ctx, findings);
});
