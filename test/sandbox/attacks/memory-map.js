// A table that doubles at once.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const map = new Map();
  for (let i = 0; ; i++) map.set(i, i);
});
