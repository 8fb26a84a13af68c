// Awaits a promise that never settles.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  await new Promise(() => {});
});
