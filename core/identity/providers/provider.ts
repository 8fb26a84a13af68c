// Settings of the external OpenID providers.

export interface ProviderSettings {
  /** Name in URLs of this server: lower-case letters, digits and hyphens. */
  readonly key: string;
  /** Name shown to people. */
  readonly name: string;
  /** Issuer identifier, from which everything else is discovered (OpenID Connect Discovery 1.0). */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which only PKCE protects. */
  readonly clientSecret: string | null;
  /** Lower case. People need a verified e-mail address in one of these domains; an empty list allows any address, or none. */
  readonly domains: readonly string[];
  /** True to trust the addresses of the provider: they count as verified, and accept invitations for them. */
  readonly takesInvitations: boolean;
}
