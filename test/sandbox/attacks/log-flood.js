// Fills the log, with terminal escapes.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  for (let i = 0; i < 10_000; i++) ctx.log.info(`\u001b[2J\u001b]0;owned\u0007 ${'x'.repeat(1000)}`);
  throw new Error('flooded');
});
