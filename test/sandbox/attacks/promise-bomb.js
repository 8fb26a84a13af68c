// Microtasks that create more microtasks.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const spawn = () => Promise.resolve().then(() => (spawn(), spawn()));
  await spawn();
});
