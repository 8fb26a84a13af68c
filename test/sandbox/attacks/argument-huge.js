// An argument of twenty megabytes.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  await ctx.comments.create('iss_1', { body: 'x'.repeat(20 << 20) });
});
