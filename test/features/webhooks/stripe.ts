// The unmodified `stripe` package's verifier, in its build for Node, whose crypto is synchronous.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Json } from '../../app.ts';

export interface StripeVerifier {
  /** @throws Error when the signature does not verify, or is older than the tolerance (seconds) */
  constructEvent(
    body: string,
    header: string,
    secret: string,
    tolerance: number,
    provider: undefined,
    atMs: number,
  ): Json;
}

export async function stripeVerifier(): Promise<StripeVerifier> {
  const root = dirname(createRequire(import.meta.url).resolve('stripe/package.json'));
  const { default: Stripe } = await import(join(root, 'esm/stripe.esm.node.js'));
  return Stripe.webhooks ?? new Stripe('sk_test_x').webhooks;
}
