// Bearers of sessions. The API accepts no cookies, so that no other site can call it through a browser. The web app
// exchanges its session for a bearer instead, which only it can read.
import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { readScriptCall } from '../../../kernel/html.ts';
import type { Principal, ResumeCredential } from '../../../kernel/http/principal.ts';
import { defineRoute, type RawAnswer, type RawRequest, type Route } from '../../../kernel/http/route.ts';
import { allScopes } from '../../../kernel/rights/table.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { tokenHash } from '../../../platform/lib/secrets/tokens.ts';
import type { FindToken } from '../../people/index.ts';
import { isFormTokenOf, isFresh, proofMs } from '../page-parts.ts';
import { sessionPrefix, type AccountMembership, type Sessions, type SignedIn } from '../sessions.ts';
import { BearerTable } from './table.ts';

const prefix = 'tts_';
const lifeMs = 5 * 60_000;
export interface SessionBearers {
  readonly find: FindToken;
  readonly resume: ResumeCredential;
  readonly routes: readonly Route[];
}

interface BearerOptions {
  readonly sessions: Sessions;
  readonly baseUrl: string;
  readonly nowMs: () => number;
}

export function createSessionBearers(options: BearerOptions): SessionBearers {
  const bearers = new BearerTable();
  return {
    async find(token) {
      if (!token.startsWith(prefix)) return null;
      const found = bearers.find(hashOf(token));
      if (!found) return null;
      const principal = await principalOf(options, found.sessionId, found.bearer.workspaceId);
      const { expiresAt } = found.bearer;
      // Read for each request, because a session may end and its sign-in may become old at any time.
      return (
        principal && { principal, expiresAt, usedAt: Infinity, noteUse: () => undefined, isUncached: true }
      );
    },
    resume: async (workspaceId, id) =>
      id.startsWith(`${sessionPrefix}_`) ? principalOf(options, id, workspaceId) : null,
    routes: [
      defineRoute({
        method: 'POST',
        path: '/session/token',
        name: 'session.token',
        summary: 'Exchange the session for a bearer',
        scope: null,
        limit: 'write',
        ofPages: true,
        responses: { 200: Type.String() },
        inbound: (_, request) => exchange(options, bearers, request),
      }),
    ],
  };
}

/**
 * Returns a person by session, with the current rights of the member.
 * @returns null once the session has ended or no longer includes the workspace
 */
async function principalOf(
  options: BearerOptions,
  sessionId: string,
  workspaceId: string,
): Promise<Principal | null> {
  const { sessions, nowMs } = options;
  const who = await sessions.resume(sessionId);
  const principal = who && (await sessions.principal(who, workspaceId));
  if (!principal) return null;
  const resume = (): Promise<Principal | null> => principalOf(options, sessionId, workspaceId);
  return { ...principal, session: { isRecent: isFresh(who, nowMs()) }, resume };
}

/** @throws ApiError unauthorized, forbidden, unsupported_media_type, payload_too_large, not_found */
async function exchange(
  { sessions, baseUrl, nowMs }: BearerOptions,
  bearers: BearerTable,
  request: RawRequest,
): Promise<RawAnswer> {
  const { formToken, workspace } = await readScriptCall(request, baseUrl);
  const who = await sessions.find(request.headers);
  if (!who) throw new ApiError('unauthorized', 'The session has ended. Sign in again.');
  if (!isFormTokenOf(who, formToken))
    throw new ApiError('forbidden', 'The form token is not that of the session. Reload the page.');
  const membership = who.memberships.find(
    ({ workspaceId }) => workspace === null || workspaceId === workspace,
  );
  if (!membership)
    throw new ApiError('not_found', 'You are not a member of this workspace. Choose another one.');
  const principal = await sessions.principal(who, membership.workspaceId);
  const scopes = allScopes.filter((scope) => principal?.scopes.has(scope) || principal?.narrowed?.has(scope));
  const token = prefix + randomBytes(32).toString('base64url');
  bearers.add(
    { sessionId: who.sessionId, hash: hashOf(token) },
    { workspaceId: membership.workspaceId, expiresAt: nowMs() + lifeMs },
    nowMs(),
  );
  return {
    contentType: 'application/json',
    headers: { 'cache-control': 'no-store' },
    body: JSON.stringify({ token, scopes, ...answerOf(who, membership, nowMs()) }),
  };
}

function answerOf(
  who: SignedIn,
  { workspaceId, workspaceName, memberId, role }: AccountMembership,
  now: number,
) {
  const recentMs = isFresh(who, now) ? who.authenticatedAt + proofMs - now : 0;
  return {
    expiresInSeconds: lifeMs / 1_000,
    recentSignInSeconds: Math.ceil(recentMs / 1_000),
    workspace: { id: workspaceId, name: workspaceName },
    member: { id: memberId, name: who.name, role, email: who.email },
    workspaces: who.memberships.map((one) => ({ id: one.workspaceId, name: one.workspaceName })),
  };
}

const hashOf = (token: string): string => Buffer.from(tokenHash(token)).toString('base64url');
