// Paths of the authorization server, relative to the base URL.

export const paths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  register: '/oauth/register',
  deviceAuthorization: '/oauth/device',
  /** Page on which a person enters the code of a device. */
  device: '/device',
  /** Followed by the id of the authorization request. */
  consent: '/oauth/consent',
  metadata: '/.well-known/oauth-authorization-server',
} as const;
