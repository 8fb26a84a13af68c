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
  /** True for a provider that is trusted with addresses: an address that it has verified is proven, and takes the seat invited by it. */
  readonly takesInvitations: boolean;
}
