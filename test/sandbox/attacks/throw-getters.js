// An error that loops when it is read.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  throw {
    get message() {
      for (;;);
    },
    get name() {
      for (;;);
    },
  };
});
