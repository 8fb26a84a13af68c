// Pollutes every prototype that the bridge could depend on.
import { attack, report } from './support/attack.js';

export default attack(async (event, ctx) => {
  const findings = [];
  const options = [
    'reference',
    'result',
    'arguments',
    'promise',
    'externalCopy',
    'copy',
    'timeout',
    'release',
  ];
  for (const name of options) Object.prototype[name] = true;
  Object.defineProperty(Array.prototype, '0', {
    set() {
      findings.push('array setter');
    },
    get() {
      return undefined;
    },
    configurable: true,
  });
  Promise.prototype.then = new Proxy(Promise.prototype.then, {
    apply: (target, self, args) => Reflect.apply(target, self, args),
  });
  JSON.stringify = () => findings.push('JSON.stringify');
  JSON.parse = () => findings.push('JSON.parse');
  Function.prototype.call = () => findings.push('call');
  String.prototype.slice = () => findings.push('slice');
  const issue = await ctx.issues.get('iss_1');
  if (typeof issue !== 'object') findings.push(typeof issue);
  for (const name of options) delete Object.prototype[name];
  delete Array.prototype[0];
  report(ctx, findings);
});
