// Small objects without end.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const all = [];
  for (;;) all.push({ a: {}, b: [] });
});
