// The rejected value is read outside every timeout.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  Promise.reject({
    get message() {
      for (;;);
    },
    get stack() {
      for (;;);
    },
    get name() {
      for (;;);
    },
  });
  await ctx.sleep(50);
});
