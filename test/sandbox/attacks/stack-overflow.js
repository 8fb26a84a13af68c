// Calls the host with no stack left.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const dive = () => {
    try {
      dive();
    } catch {
      void ctx.issues.get(1).catch(() => {});
    }
  };
  dive();
  throw new Error('surfaced');
});
