// A request on its way through the kernel, once it is known who asks and what for.
import type { Exchange } from './answer.ts';
import type { InProcess, Principal } from './principal.ts';
import type { CheckedInput } from './route.ts';

export interface Asked {
  readonly exchange: Exchange;
  readonly request: Request;
  /** Null at a public route for a request without a token. */
  readonly principal: Principal | null;
  /** Set where a plugin asks, inside this process. */
  readonly local: InProcess | undefined;
  readonly input: CheckedInput;
  /** The body as it came; empty for none. */
  readonly bodyText: string;
}

/** A request whose caller is known, as every kind of route but `raw` needs it. */
export interface Call extends Asked {
  readonly principal: Principal;
}

/** @throws Error where a public route is of a kind that needs a caller, which is a mistake in its declaration */
export function requireCaller(asked: Asked): asserts asked is Call {
  if (!asked.principal) throw new Error('A public route needs a context.');
}
