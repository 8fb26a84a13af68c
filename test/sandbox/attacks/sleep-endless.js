// Sleeps without end.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  for (;;) await ctx.sleep(0);
});
