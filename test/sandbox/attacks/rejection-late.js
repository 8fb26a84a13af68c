// A rejection that arrives during another run.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  setTimeout(() => Promise.reject(new Error('late')), 1);
  await ctx.sleep(30);
});
