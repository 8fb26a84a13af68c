// The timeout of the first entry is over when the loop begins.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  await ctx.issues.get(1);
  for (;;);
});
