// Who did it and why: what every event carries of its origin, from the request down to those who read the log.

/** Who acts. `id` is a member, an API key, an app or a plugin install; `memberId` is the member that a key or an app acts for. */
export interface Actor {
  readonly kind: 'user' | 'api_key' | 'app' | 'plugin' | 'system';
  readonly id: string;
  readonly name: string;
  readonly memberId?: string;
}

/** Why it happened. An event without an earlier cause is its own root, at depth 0. */
export interface Cause {
  readonly rootEventId: string | null;
  readonly parentRunId: string | null;
  readonly depth: number;
  /** Installs and issues this chain went through, oldest first: `plg_…:iss_…`. */
  readonly path: readonly string[];
  /** Whoever called the action of the plugin that did it. */
  readonly onBehalfOf?: Actor;
}
