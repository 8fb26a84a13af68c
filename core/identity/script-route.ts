// JSON routes for the scripts of Tatami's own pages, outside the public API.
import { Type } from 'typebox';
import { defineRoute, type RawRequest, type RawAnswer, type Route } from '../http/route.ts';
import { readScriptCall } from '../html/script-call.ts';

interface ScriptFacts {
  readonly path: string;
  readonly name: string;
  readonly summary: string;
}

type ScriptBody = Readonly<Record<string, unknown>>;

/** Errors have the format of the API; the script shows their messages. */
export function scriptRoute(
  facts: ScriptFacts,
  baseUrl: string,
  answer: (body: ScriptBody, request: RawRequest) => Promise<{ body: object; cookies?: readonly string[] }>,
): Route {
  return defineRoute({
    ...facts,
    method: 'POST',
    scope: null,
    limit: 'write',
    ofPages: true,
    responses: { 200: Type.Object({}) },
    inbound: async (_, request): Promise<RawAnswer> => {
      const { body, cookies = [] } = await answer(await readScriptCall(request, baseUrl), request);
      return {
        contentType: 'application/json',
        ...(cookies.length === 0 ? {} : { headers: { 'set-cookie': cookies } }),
        body: JSON.stringify(body),
      };
    },
  });
}
