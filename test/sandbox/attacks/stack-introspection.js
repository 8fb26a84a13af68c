// Inspects call sites, callers and arguments in a sloppy-mode function that the guest program calls directly.
import { attack } from './support/attack.js';

const look = `
  const findings = [];
  const suspicious = (fn) => typeof fn === 'function' && fn !== arguments.callee;
  try {
    if (suspicious(arguments.callee.caller)) findings.push('caller ' + arguments.callee.caller.name);
  } catch {
    // Strict callers refuse.
  }
  Error.prepareStackTrace = (error, sites) => {
    for (const site of sites) {
      if (suspicious(site.getFunction())) findings.push('function ' + site.getFunction().name);
      if (site.getThis() !== undefined && site.getThis() !== globalThis) findings.push('this of ' + site.getFunctionName());
    }
    return '';
  };
  const probe = new Function('return new Error("look").stack');
  probe();
  Error.prepareStackTrace = undefined;
  const leaks = findings.filter((finding) => !/anonymous/.test(finding));
  ctx.log.info(leaks.length === 0 ? 'clean' : 'found ' + leaks.join(', '));
`;

export default attack(new Function('event', 'ctx', look));
