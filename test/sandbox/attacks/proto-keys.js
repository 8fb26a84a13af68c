// Keys that merge into the host.
import { attack, report } from './support/attack.js';

export default attack(async (event, ctx) => {
  const findings = [];
  await ctx.issues.update(
    'iss_1',
    JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'),
  );
  if ({}.admin) findings.push('polluted');
  report(ctx, findings);
});
