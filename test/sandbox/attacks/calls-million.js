// A million calls at once.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  await Promise.all(Array.from({ length: 1_000_000 }, () => ctx.issues.get(1)));
});
