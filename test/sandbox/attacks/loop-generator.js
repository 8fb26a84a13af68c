// An endless iterator, drained by a built-in.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  function* endless() {
    for (;;) yield 0;
  }
  for (const each of endless()) void each;
});
