// A built-in that copies.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  let text = 'ß'.repeat(1 << 26);
  for (;;) text = text.toLocaleUpperCase();
});
