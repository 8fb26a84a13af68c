// What scripts of our own pages ask of the server: JSON in, JSON out, and no part of the API.
import { Type } from 'typebox';
import { defineRoute, type Arrival, type RawAnswer, type Route } from '../http/route.ts';
import { readScriptCall } from '../html/script-call.ts';

interface ScriptFacts {
  readonly path: string;
  readonly name: string;
  readonly summary: string;
}

type Given = Readonly<Record<string, unknown>>;

/** What is refused is answered as the API does, and the script shows the message. @param baseUrl of this server */
export function scriptRoute(
  facts: ScriptFacts,
  baseUrl: string,
  answer: (given: Given, arrival: Arrival) => Promise<{ body: object; cookies?: readonly string[] }>,
): Route {
  return defineRoute({
    ...facts,
    method: 'POST',
    scope: null,
    limit: 'write',
    ofPages: true,
    responses: { 200: Type.Object({}) },
    inbound: async (_, arrival): Promise<RawAnswer> => {
      const { body, cookies = [] } = await answer(await readScriptCall(arrival, baseUrl), arrival);
      return {
        contentType: 'application/json',
        ...(cookies.length === 0 ? {} : { headers: { 'set-cookie': cookies } }),
        body: JSON.stringify(body),
      };
    },
  });
}
