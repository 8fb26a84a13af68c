// Termination must not be caught.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  for (;;) {
    try {
      for (;;);
    } catch {
      continue;
    } finally {
      for (;;);
    }
  }
});
