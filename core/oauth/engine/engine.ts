// The protocol library behind an interface of our own: it is loaded when the first request needs it, and nothing outside this folder
// knows it.
import type { default as Library } from 'oidc-provider';
import { Provider } from 'oidc-provider/lib/provider.js';
import type { Arrival, RawAnswer } from '../../http/route.ts';
import type { Log } from '../../lib/log.ts';
import { wordOf, type GrantRef } from '../grants.ts';
import { askedScopes } from '../offered.ts';
import { paths } from '../paths.ts';
import { resourceAt, type Resource } from '../resources.ts';
import { mintText } from '../token-text.ts';
import { answerOf, exchangeOf } from './bridge.ts';
import { configurationOf, cookieNames, type ConfigurationOptions } from './configuration.ts';
import { devicesOf, type Devices } from './devices.ts';
import { askForSecrets } from './client-secrets.ts';

/** What a client asks a member for. */
export interface Asking {
  /** Under which it is kept; nobody is to see it. */
  readonly ticket: string;
  readonly clientId: string;
  /** Where the browser goes back to; null for a device, whose code was typed in. */
  readonly redirectUri: string | null;
  readonly resource: Resource;
  /** Of those that are offered; empty where it asked for none of them. */
  readonly scopes: readonly string[];
}

/** What of that is said by the parameters of a request. */
export type Asked = Pick<Asking, 'clientId' | 'resource' | 'scopes'>;

/** What came of it. */
export type Decision =
  | { readonly grant: GrantRef; readonly memberId: string; readonly scopes: readonly string[] }
  | { readonly error: 'access_denied' | 'invalid_scope'; readonly why: string };

export interface Engine extends Devices {
  /** Answers what a client or its browser asks by the protocol. */
  answer(arrival: Arrival): Promise<RawAnswer>;
  /** What is asked on a consent page; null where this browser began no such request, or it is over. */
  asking(arrival: Arrival, uid: string): Promise<Asking | null>;
  /** Decides that, and sends the browser on. */
  settle(arrival: Arrival, uid: string, decision: Decision): Promise<RawAnswer>;
}

export function createEngine(options: ConfigurationOptions & { log: Log }): Engine {
  const { baseUrl, log } = options;
  const provider = new Provider(baseUrl, configurationOf(options));
  const respond = provider.callback();
  keepNames(provider);
  issueOurTexts(provider);
  askForSecrets(provider.Client, options.clients);
  // What was wrong with a grant is no secret to the client that holds it, and what it needs to mend itself.
  provider.on('grant.error', (ctx, { error, error_description: why, error_detail: detail }) => {
    if (error === 'invalid_grant' && detail) ctx.body = { error, error_description: `${why}: ${detail}` };
  });
  provider.on('server_error', (_, error) => log('error', 'the authorization server failed', { error }));
  // It would print every refusal to the console, which the answer tells already.
  provider.silent = true;

  const interactionOf = async (arrival: Arrival, uid: string) => {
    const { req, res } = await exchangeOf({ ...arrival, method: 'GET' }, baseUrl);
    const interaction = await provider.interactionDetails(req, res).catch(() => null);
    return interaction?.uid === uid ? { interaction, req, res } : null;
  };
  return {
    async answer(arrival) {
      const { req, res } = await exchangeOf(asWeTakeIt(arrival), baseUrl);
      await respond(req, res);
      return answerOf(res, [cookieNames.session]);
    },
    async asking(arrival, uid) {
      const found = await interactionOf(arrival, uid);
      if (!found) return null;
      const { params } = found.interaction;
      return { ...askingOf(baseUrl, params), ticket: uid, redirectUri: String(params.redirect_uri) };
    },
    async settle(arrival, uid, decision) {
      const found = await interactionOf(arrival, uid);
      if (!found) throw new Error(`Nothing is asked by ${uid}.`);
      const { req, res } = found;
      const result =
        'error' in decision
          ? { error: decision.error, error_description: decision.why }
          : {
              login: { accountId: decision.memberId, remember: false },
              consent: { grantId: wordOf(decision.grant) },
            };
      const next = await provider.interactionResult(req, res, result, { mergeWithLastSubmission: false });
      return { status: 303, contentType: 'text/plain', headers: { location: next }, body: '' };
    },
    ...devicesOf(provider, (params) => askingOf(baseUrl, params)),
  };
}

function askingOf(baseUrl: string, params: Readonly<Record<string, unknown>>): Asked {
  return {
    clientId: String(params.client_id),
    resource: resourceAt(baseUrl, String(params.resource)) ?? 'api',
    scopes: askedScopes(textOf(params.scope)),
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/**
 * A request for authorization with what the library has to be told: a client that says no scope asks for the usual ones
 * (RFC 6749 §3.3); an answer goes out in the query alone, and so does the refusal of another way, for which it is given a word
 * that it does not know.
 */
function asWeTakeIt(arrival: Arrival): Arrival {
  if (arrival.path !== paths.authorize) return arrival;
  const query = new URLSearchParams(arrival.query);
  if ((query.get('scope') ?? '') === '') query.set('scope', askedScopes(null).join(' '));
  if ((query.get('response_mode') ?? 'query') !== 'query') query.set('response_mode', 'none');
  return { ...arrival, query };
}

const models = [
  ...(['AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode'] as const),
  ...(['Grant', 'Interaction', 'Session'] as const),
] as const;

/** The library goes by the names of its classes, in what it keeps as well, and a bundler may drop them. */
function keepNames(provider: Library): void {
  for (const name of models) Object.defineProperty(provider[name], 'name', { value: name });
}

function issueOurTexts(provider: Library): void {
  for (const kind of ['AccessToken', 'RefreshToken'] as const)
    Object.defineProperty(provider[kind].prototype, 'generateTokenId', {
      value(this: { format?: string }) {
        // The library's own method settles this as well.
        this.format = 'opaque';
        return mintText(kind);
      },
    });
}
