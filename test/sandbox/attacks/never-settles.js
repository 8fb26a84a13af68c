// Waits for nothing.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  await new Promise(() => {});
});
