// Stores the ctx of an earlier run and calls the host with it.
import { attack, report } from './support/attack.js';

let kept;
export default attack(async (event, ctx) => {
  if (kept === undefined) {
    kept = ctx;
    throw new Error('keep me warm');
  }
  const late = await kept.issues.get('late').then(
    () => 'answered',
    (error) => error.code,
  );
  report(ctx, late === 'run_ended' ? [] : [late]);
});
