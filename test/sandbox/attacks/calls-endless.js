// Calls without end, errors ignored.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  for (;;) {
    try {
      await ctx.issues.get(1);
    } catch {
      continue;
    }
  }
});
