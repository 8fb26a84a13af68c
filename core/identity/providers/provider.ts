// Outside OpenID providers by which people may sign in, as the operator names them.

export interface ProviderSettings {
  /** In addresses of this server: lower-case letters, digits and hyphens. */
  readonly key: string;
  /** What people know it by. */
  readonly name: string;
  /** Its issuer identifier, from which everything else is discovered (OpenID Connect Discovery 1.0). */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a client without one, which PKCE alone protects. */
  readonly clientSecret: string | null;
  /** Lower case. Who signs in must have an e-mail address there that the provider has verified; an empty list asks for none. */
  readonly domains: readonly string[];
  /** Whether who was invited by an e-mail address may come in with that address, once the provider has verified it. */
  readonly takesInvitations: boolean;
}
