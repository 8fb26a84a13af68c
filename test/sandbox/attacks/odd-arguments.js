// Arguments that break their own serialization.
import { attack, report } from './support/attack.js';

export default attack(async (event, ctx) => {
  const findings = [];
  const cyclic = {};
  cyclic.self = cyclic;
  let deep = {};
  for (let i = 0; i < 100_000; i++) deep = { deep };
  Object.prototype.toJSON = () => 'forged';
  Array.prototype.toJSON = () => 'forged';
  for (const odd of [
    cyclic,
    deep,
    1n,
    {
      toJSON() {
        throw new Error('no');
      },
    },
  ]) {
    await ctx.issues.get(odd).then(
      () => {},
      () => {},
    );
  }
  delete Object.prototype.toJSON;
  delete Array.prototype.toJSON;
  await ctx.issues.get('iss_1');
  report(ctx, findings);
});
