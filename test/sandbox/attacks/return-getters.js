// A thenable that loops when it is looked at.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  return {
    get then() {
      for (;;);
    },
  };
});
