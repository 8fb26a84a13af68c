// Bearers of sessions: the web app exchanges its session for one, because the API accepts no cookies.
import { randomBytes } from 'node:crypto';
import { readScriptCall } from '../../kernel/html.ts';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { Type } from 'typebox';
import type { FindToken } from '../people/index.ts';
import { isFormTokenOf, proofMs } from './page-parts.ts';
import type { Sessions, SignedIn } from './sessions.ts';

const lifeMs = 5 * 60_000;
const bearersMax = 10_000;

interface Bearer {
  readonly who: SignedIn;
  readonly workspaceId: string;
  readonly expiresAt: number;
}

export interface SessionBearers {
  readonly find: FindToken;
  readonly route: Route;
}

interface BearerOptions {
  readonly sessions: Sessions;
  readonly baseUrl: string;
  readonly nowMs: () => number;
}

export function createSessionBearers({ sessions, baseUrl, nowMs }: BearerOptions): SessionBearers {
  const bearers = new Map<string, Bearer>();
  return {
    async find(token) {
      const bearer = token.startsWith('tts_') ? bearers.get(String(tokenHash(token))) : undefined;
      if (!bearer) return null;
      const principal = await sessions.principal(bearer.who, bearer.workspaceId);
      if (!principal) return null;
      return { principal, expiresAt: bearer.expiresAt, usedAt: nowMs(), noteUse: () => undefined };
    },
    route: defineRoute({
      method: 'POST',
      path: '/session/token',
      name: 'session.token',
      summary: 'Exchange the session for a bearer',
      scope: null,
      limit: 'write',
      ofPages: true,
      responses: { 200: Type.String() },
      inbound: async (_, request) => {
        const who = await sessions.find(request.headers);
        if (!who) throw new ApiError('unauthorized');
        const { formToken, workspace } = await readScriptCall(request, baseUrl);
        if (!isFormTokenOf(who, formToken)) throw new ApiError('forbidden', 'Reload the page.');
        const membership = who.memberships.find(
          ({ workspaceId }) => workspace === null || workspaceId === workspace,
        );
        if (!membership) throw new ApiError('not_found', 'The workspace was not found.');
        const token = `tts_${randomBytes(32).toString('base64url')}`;
        if (bearers.size >= bearersMax) bearers.clear();
        const expiresAt = nowMs() + lifeMs;
        bearers.set(String(tokenHash(token)), { who, workspaceId: membership.workspaceId, expiresAt });
        const body = {
          token,
          expiresInSeconds: lifeMs / 1000,
          recentSignInSeconds: Math.max(0, Math.floor((who.authenticatedAt + proofMs - nowMs()) / 1000)),
          workspace: { id: membership.workspaceId, name: membership.workspaceName },
          member: { id: membership.memberId, name: who.name, role: membership.role, email: who.email },
          workspaces: who.memberships.map(({ workspaceId: id, workspaceName: name }) => ({ id, name })),
        };
        return {
          contentType: 'application/json',
          headers: { 'cache-control': 'no-store' },
          body: JSON.stringify(body),
        };
      },
    }),
  };
}
