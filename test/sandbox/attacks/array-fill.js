// One call, eight hundred megabytes.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const all = [];
  for (;;) all.push(new Array(1e8).fill(1));
});
