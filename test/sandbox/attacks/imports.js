// Modules of the host.
import { attack, report } from './support/attack.js';

export default attack(async (event, ctx) => {
  const findings = [];
  for (const name of ['node:fs', 'fs', 'isolated-vm', './plugin.js', 'data:text/javascript,1']) {
    await import(name).then(
      () => findings.push(name),
      () => {},
    );
  }
  for (const key of Object.keys(import.meta)) findings.push(`import.meta.${key}`);
  for (const scope of ['require', '__step', 'exports'])
    if ((0, eval)(`typeof ${scope}`) !== 'undefined') findings.push(scope);
  report(ctx, findings);
});
