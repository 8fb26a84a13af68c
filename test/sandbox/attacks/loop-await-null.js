// Yields to microtasks only.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  for (;;) await null;
});
