// Settings of external OpenID providers.

export interface ProviderSettings {
  /** Name in URLs of this server: lower-case letters, digits and hyphens. */
  readonly key: string;
  /** Name shown to people. */
  readonly name: string;
  /** Issuer identifier. The endpoints are discovered from it (OpenID Connect Discovery 1.0). */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which relies on PKCE alone. */
  readonly clientSecret: string | null;
  /**
   * Domains in lower case; a person needs a verified e-mail address in one of them. An empty list allows any
   * address, or none.
   */
  readonly domains: readonly string[];
  /**
   * True to trust the addresses that the provider has verified: they count as verified, and accept
   * invitations.
   */
  readonly takesInvitations: boolean;
}
