// Adapter for requests that a signed URL authenticates, because browsers send no token with an image or a download. The object and the
// caller are in the URL, and the caller's rights are read for each request.
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Principal, ResumeCredential } from '../principal.ts';
import type { Requests } from '../requests.ts';
import type { SignedClaims, SignedRoute } from '../route.ts';
import type { Identify } from './context-of.ts';
import { acceptsPage, type Incoming, type RequestAdapter } from './request.ts';

interface SignedRequest extends Incoming {
  readonly request: Request;
  readonly claims: SignedClaims | null;
}

export interface SignedAdapter extends RequestAdapter<SignedRequest, Response> {
  incoming(of: SignedRoute, request: Request, token: string): SignedRequest;
}

export function createSignedAdapter(
  base: Omit<Requests, 'signed'>,
  { admitSigned }: Pick<Identify, 'admitSigned'>,
  resume: ResumeCredential,
): SignedAdapter {
  return {
    ...base,
    incoming({ open }, request, token) {
      const claims = open(token);
      return { request, claims, params: { id: claims?.id ?? '' } };
    },
    async admit({ request, claims }, exchange, route) {
      exchange.asksForPage = acceptsPage(request);
      const principal: Principal | null = claims && (await resume(claims.workspaceId, claims.credentialId));
      return admitSigned(request, exchange, route, principal);
    },
    refuse: (exchange, error) => base.refuse(exchange, uniform(error)),
  };
}

/** Other refusals would reveal why a URL no longer works, and so what became of the object or of the caller. */
function uniform(error: ApiError): ApiError {
  const isOfRequest = error.status === 416 || error.status === 429 || error.status >= 500;
  return isOfRequest ? error : new ApiError('not_found');
}
