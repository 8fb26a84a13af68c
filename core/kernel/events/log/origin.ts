// Actor and cause of an event, passed from the request to every reader of the log.

/**
 * Actor of a change. `id` names a member, an API key, an app or a plugin install; `memberId` is the member that a key
 * or an app acts for.
 */
export interface Actor {
  readonly kind: 'user' | 'api_key' | 'app' | 'plugin' | 'system';
  readonly id: string;
  readonly name: string;
  readonly memberId?: string;
}

/** Cause of a change. An event without an earlier cause is its own root, at depth 0. */
export interface Cause {
  readonly rootEventId: string | null;
  readonly parentRunId: string | null;
  readonly depth: number;
  /** Plugin installs and issues in the causation chain, oldest first: `plg_…:iss_…`. */
  readonly path: readonly string[];
  /** Actor that called the plugin action. */
  readonly onBehalfOf?: Actor;
}
