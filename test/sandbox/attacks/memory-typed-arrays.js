// Memory outside the heap.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const all = [];
  for (;;) all.push(new Uint8Array(1 << 20).fill(7));
});
