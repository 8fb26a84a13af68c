// Loops inside a trap.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const trap = new Proxy(
    {},
    {
      get: () => {
        for (;;);
      },
    },
  );
  trap.anything;
});
