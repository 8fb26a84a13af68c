// Numbers of a hundred million bits.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  let n = (1n << 30_000_000n) - 1n;
  for (;;) n = (n * n) & ((1n << 60_000_000n) - 1n);
});
