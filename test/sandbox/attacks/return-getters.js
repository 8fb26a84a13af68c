// A thenable that loops when it is inspected.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  return {
    get then() {
      for (;;);
    },
  };
});
