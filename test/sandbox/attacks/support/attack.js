// A hostile plugin around one handler. Plain JavaScript: what a type checker would refuse is what these files are about.
import { definePlugin } from '@tatami/sdk/plugin';

export function attack(handle) {
  return definePlugin({
    id: 'test.attack',
    version: '1.0.0',
    engines: { tatami: '^0.1' },
    scopes: { 'issues:write': { why: 'attack' }, 'comments:write': { why: 'attack' } },
    on: { 'issue.created': { handle } },
  });
}

/** Logs `clean` when nothing was found; the test asks for exactly that. */
export function report(ctx, findings) {
  ctx.log.info(findings.length === 0 ? 'clean' : `found ${findings.join(', ')}`);
}
