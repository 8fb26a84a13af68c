// A hostile plugin around one handler. Plain JavaScript, because a type checker would reject the attacks.
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

/** Logs `clean` if there are no findings; the test expects exactly that. */
export function report(ctx, findings) {
  ctx.log.info(findings.length === 0 ? 'clean' : `found ${findings.join(', ')}`);
}
