// Attempts network access.
import { attack, report } from './support/attack.js';

export default attack(async (event, ctx) => {
  const findings = [];
  for (const address of ['http://127.0.0.1:1/', 'http://169.254.169.254/', 'file:///etc/passwd']) {
    const answer = await fetch(address).then(
      () => 'reached',
      (error) => error.code,
    );
    if (answer !== 'egress_denied') findings.push(address);
  }
  report(ctx, findings);
});
