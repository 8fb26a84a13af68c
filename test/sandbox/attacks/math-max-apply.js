// A hundred million arguments.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  Math.max.apply(null, { length: 1e8 });
});
