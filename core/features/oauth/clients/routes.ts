// Registration endpoints (RFC 7591 §3, RFC 7592 §2). Responses follow these RFCs instead of the envelope of
// the API.
import { defineRoute, type RawRequest, type RawAnswer, type Route } from '../../../kernel/http/route.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, idOf } from '../../../platform/lib/schema.ts';
import { ClientRefused } from './client.ts';
import { RegistrationFlood, type Registration } from './registration.ts';

const bodyBytesMax = 16 * 1024;
/** The `charset` excludes the routes from the API documents, because RFCs define their responses. */
const contentType = 'application/json; charset=utf-8';

const Params = Closed({ id: idOf(idPrefixes.client) });
const documented = { scope: null, limit: 'write', contentType, responses: { 200: null } } as const;

export function registrationRoutes(registration: Registration): readonly Route[] {
  return [
    defineRoute({
      ...documented,
      method: 'POST',
      path: '/oauth/register',
      name: 'oauth.register',
      summary: 'Register a client (RFC 7591)',
      inbound: (_, request) =>
        answered(async () => json(201, await registration.register(await readBody(request), request.peer))),
    }),
    ...(['GET', 'PUT', 'DELETE'] as const).map((method) =>
      defineRoute({
        ...documented,
        method,
        path: '/oauth/register/{id}',
        name: `oauth.register.${method.toLowerCase()}`,
        summary: `${{ GET: 'Read', PUT: 'Replace', DELETE: 'Remove' }[method]} a registration (RFC 7592)`,
        params: Params,
        inbound: ({ params }, request) => answered(() => manage[method](registration, params.id, request)),
      }),
    ),
  ];
}

type Manage = (registration: Registration, id: string, request: RawRequest) => Promise<RawAnswer>;

const manage: Readonly<Record<'GET' | 'PUT' | 'DELETE', Manage>> = {
  GET: async (registration, id, request) => informationAnswer(await registration.read(id, tokenOf(request))),
  PUT: async (registration, id, request) => {
    const body = await readBody(request);
    requireSame(body, id);
    return informationAnswer(await registration.replace(id, tokenOf(request), body));
  },
  DELETE: async (registration, id, request) =>
    (await registration.remove(id, tokenOf(request))) ? { contentType, status: 204, body: '' } : refusedToken,
};

/** Requires the `client_id` in the body, and rejects members that only the server sets (RFC 7592 §2.2). */
function requireSame(body: unknown, id: string): void {
  const metadata = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (metadata.client_id !== id)
    throw new ClientRefused('invalid_client_metadata', 'client_id: give the id of this registration.');
  const ours = [
    'registration_access_token',
    'registration_client_uri',
    'client_secret_expires_at',
    'client_id_issued_at',
  ];
  const said = ours.find((name) => name in metadata);
  if (said !== undefined)
    throw new ClientRefused('invalid_client_metadata', `${said}: leave this member out, the server sets it.`);
}

async function readBody(request: RawRequest): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new ClientRefused('invalid_client_metadata', 'Send the metadata as application/json.');
  const bytes = await request.read(bodyBytesMax);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch (cause) {
    throw new ClientRefused(
      'invalid_client_metadata',
      'The body is not valid JSON. Correct its syntax.',
      cause,
    );
  }
}

function tokenOf({ headers }: RawRequest): string {
  return /^Bearer ([\x21-\x7e]{1,200})$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
}

/** Used for an unknown client and for a wrong token (RFC 7592 §2.1). */
const refusedToken: RawAnswer = {
  ...json(401, {
    error: 'invalid_token',
    error_description:
      'The registration access token is invalid for this client. Use the token from the registration response.',
  }),
  headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
};

function informationAnswer(information: object | null): RawAnswer {
  return information ? json(200, information) : refusedToken;
}

function json(status: number, body: object): RawAnswer {
  return { contentType, status, body: JSON.stringify(body) };
}

async function answered(work: () => Promise<RawAnswer>): Promise<RawAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ClientRefused)
      return json(400, { error: error.code, error_description: error.message });
    if (!(error instanceof RegistrationFlood)) throw error;
    return {
      ...json(429, { error: 'temporarily_unavailable', error_description: error.message }),
      headers: { 'retry-after': String(error.retryAfterSeconds) },
    };
  }
}
