// Values that are no errors, and values that imitate errors.
import { attack, report } from './support/attack.js';

export default attack(async (event, ctx) => {
  const findings = [];
  class RangeError extends Error {}
  for (const odd of [
    undefined,
    null,
    Symbol('odd'),
    7n,
    new Proxy({}, {}),
    new RangeError('fake'),
    Object.create(null),
  ]) {
    const caught = await Promise.reject(odd).catch((error) => error);
    if (caught !== odd) findings.push('changed');
  }
  const failed = await ctx.issues.get('fail').catch((error) => error);
  if (
    !(failed instanceof Error) ||
    /\/|\\|node:|at /.test(
      failed.stack
        .split('\n')
        .slice(1)
        .join('')
        .replaceAll(/at .*?(tatami:guest|plugin\.js).*?(?=at |$)/g, ''),
    )
  )
    findings.push(failed.stack);
  report(ctx, findings);
});
