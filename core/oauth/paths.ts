// Where the authorization server answers, below the base address.

export const paths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  register: '/oauth/register',
  deviceAuthorization: '/oauth/device',
  /** The page on which a person types the code that a device shows. */
  device: '/device',
  /** Followed by the request that is to be decided. */
  consent: '/oauth/consent',
  metadata: '/.well-known/oauth-authorization-server',
} as const;
