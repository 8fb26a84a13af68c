// A rejection of two hundred megabytes.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  Promise.reject(new Error('x'.repeat(200 << 20)));
  await ctx.sleep(50);
});
