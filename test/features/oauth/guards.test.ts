// Guards inside the protocol library are disabled at the place of their use.
import { testGuards, type Guard } from '../../guards.ts';

const at = (suite: string, file: string) => ({ suite: `test/features/oauth/${suite}.test.ts`, file });
const ofAgents = (suite: string, file: string) => ({
  suite: `test/features/agents/${suite}.test.ts`,
  file,
});

const guards: readonly Guard[] = [
  {
    name: 'redirect URIs are compared character by character',
    ...at('attacks', 'core/features/oauth/engine/engine.ts'),
    guarding: '  preserveNames(provider);\n',
    broken: '  preserveNames(provider);\n  provider.Client.prototype.redirectUriAllowed = () => true;\n',
  },
  {
    name: 'a code requires PKCE',
    ...at('attacks', 'core/features/oauth/engine/configuration.ts'),
    guarding: 'pkce: { required: () => true },',
    broken: 'pkce: { required: () => false },',
  },
  {
    name: 'a code is exchanged with the redirect URI of its request',
    ...at('attacks', 'core/features/oauth/engine/configuration.ts'),
    guarding: 'allowOmittingSingleRegisteredRedirectUri: false',
    broken: 'allowOmittingSingleRegisteredRedirectUri: true',
  },
  {
    name: 'a code is valid for a minute',
    ...at('attacks', 'core/features/oauth/engine/configuration.ts'),
    guarding: 'AuthorizationCode: minute',
    broken: 'AuthorizationCode: hour',
  },
  {
    name: 'a token is for one resource',
    ...at('attacks', 'core/features/oauth/engine/configuration.ts'),
    guarding: ' || (Array.isArray(requested) && requested.length > 1)',
    broken: '',
  },
  {
    name: 'only its own client introspects a token',
    ...at('attacks', 'core/features/oauth/engine/configuration.ts'),
    guarding: "client.clientAuthMethod !== 'none' && isOwn(ctx, client, token)",
    broken: "client.clientAuthMethod !== 'none'",
  },
  {
    name: 'only its own client revokes a token',
    ...at('attacks', 'core/features/oauth/engine/configuration.ts'),
    guarding: 'revocation: { enabled: true, allowedPolicy: isOwn },',
    broken: 'revocation: { enabled: true, allowedPolicy: () => true },',
  },
  {
    name: 'the secret of a client is compared',
    ...at('attacks', 'core/features/oauth/engine/engine.ts'),
    guarding: 'return clients.proves(this.clientId, text);',
    broken: 'return clients.proves(this.clientId, text).then(() => true);',
  },
  {
    name: 'the API accepts only tokens for it',
    ...at('attacks', 'core/kernel/http/request/context-of.ts'),
    guarding: 'if (principal.grant && principal.grant.resource !== resource)',
    broken: 'if (principal.grant && principal.grant.resource.length > 10)',
  },
  {
    name: 'the MCP endpoint accepts only tokens for it',
    ...ofAgents('oauth', 'core/kernel/http/request/context-of.ts'),
    guarding: 'if (principal.grant && principal.grant.resource !== resource)',
    broken: "if (principal.grant && resource === 'api' && principal.grant.resource !== resource)",
  },
  {
    name: 'pages of other sites cannot call the MCP endpoint',
    ...ofAgents('refused', 'core/features/agents/endpoint.ts'),
    guarding: 'if (from !== null && isLoopbackHost(from)) return;',
    broken: 'return;',
  },
  {
    name: 'a rebound host name cannot call the MCP endpoint',
    ...ofAgents('refused', 'core/features/agents/endpoint.ts'),
    guarding: 'host === null || !(host === own.hostname || isOfNobody(host))',
    broken: 'host === null',
  },
  {
    name: 'apps approve nothing',
    ...ofAgents('refused', 'core/features/proposals/decide.ts'),
    guarding: "  requirePerson(ctx, 'approve proposals');\n",
    broken: '',
  },
  {
    name: 'the state of a pending call is signed',
    ...ofAgents('guardrail', 'core/features/agents/server.ts'),
    guarding: 'decodeCursor(sealing, listOf(agent), state)',
    broken: "JSON.parse(Buffer.from(state.split('.')[0] ?? '', 'base64url').toString())",
  },
  {
    name: 'refresh tokens are rotated',
    ...at('flow', 'core/features/oauth/engine/configuration.ts'),
    guarding: 'rotateRefreshToken: true',
    broken: 'rotateRefreshToken: false',
  },
  {
    name: 'a one-time value is used once under concurrency',
    ...at('flow', 'core/features/oauth/tokens.ts'),
    guarding: "consumed_at = :now WHERE id = :id AND consumed_at IS NULL'",
    broken: "consumed_at = :now WHERE id = :id'",
  },
  {
    name: 'concurrent use of a one-time value revokes the grant',
    ...at('flow', 'core/features/oauth/engine/adapter.ts'),
    guarding: 'if (stored?.grant) await grants.revoke(stored.grant);',
    broken: '',
  },
  {
    name: 'a request is decided once',
    ...at('flow', 'core/features/oauth/tokens.ts'),
    guarding: 'WHERE id = :id AND decided_at IS NULL AND consumed_at IS NULL',
    broken: 'WHERE id = :id AND consumed_at IS NULL',
  },
  {
    name: 'a revoked grant authorizes no request',
    ...at('flow', 'core/features/oauth/tokens.ts'),
    guarding: "t.kind = 'AccessToken' AND g.revoked_at IS NULL",
    broken: "t.kind = 'AccessToken'",
  },
  {
    name: 'an app does no more than the role of its member',
    ...at('pages', 'core/features/oauth/tokens.ts'),
    guarding: '...commonRights(granted, membership.rights),',
    broken: '...granted,',
  },
  {
    name: 'scopes that were not requested, or that the role lacks, are not granted',
    ...at('pages', 'core/features/oauth/consent/decide.ts'),
    guarding: 'scopes\n    .filter(({ scope, isGrantable }) => isGrantable && chosen.has(scope))',
    broken: '[...chosen].map((scope) => ({ scope }))',
  },
  {
    name: 'a request is decided in the browser that started it',
    ...at('pages', 'core/features/oauth/engine/configuration.ts'),
    guarding: "return this.#sealing.verify(text, 'oauth-cookie', signature);",
    broken: 'return text !== signature;',
  },
  {
    name: 'a consent form comes from a page of this person',
    ...at('pages', 'core/features/sign-in/page-parts.ts'),
    guarding: "if (!isFormTokenOf({ formToken }, form.get('form_token')))",
    broken: 'if (false)',
  },
  {
    name: 'device codes cannot be guessed',
    ...at('pages', 'core/features/oauth/consent/routes.ts'),
    guarding: 'return count >= wrongMax ? ',
    broken: 'return count < 0 ? ',
  },
  {
    name: 'registrations of one peer are limited',
    ...at('registration', 'core/features/oauth/clients/registration.ts'),
    guarding: '      requirePeerQuota(peer);\n',
    broken: '',
  },
  {
    name: 'unused registrations are limited',
    ...at('registration', 'core/features/oauth/clients/registration.ts'),
    guarding: '        systemOp(removeOldest, { max: unusedMax }),\n',
    broken: '',
  },
  {
    name: 'client documents are fetched from public addresses',
    ...at('documents', 'core/features/oauth/runtime.ts'),
    guarding: 'createEgress({ allow: [], ',
    broken: "createEgress({ allow: ['127.0.0.0/8', '10.0.0.0/8'], ",
  },
  {
    name: 'a document names its own URL',
    ...at('documents', 'core/features/oauth/clients/documents.ts'),
    guarding: 'if (metadata.client_id !== id)',
    broken: 'if (metadata.client_id === null)',
  },
];

// The guards with the fastest suites.
testGuards(
  guards,
  guards.filter(({ suite, name }) => suite.includes('documents') && name.includes('public addresses')),
);
