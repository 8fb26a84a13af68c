// Big arrays without end.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const all = [];
  for (;;) all.push(new Array(10000).fill(1.5));
});
