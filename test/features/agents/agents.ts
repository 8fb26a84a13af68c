// Connects agents by the official, unmodified clients of both protocol versions.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Json, TestApp } from '../../app.ts';

export const endpointOf = ({ url }: Pick<TestApp, 'url'>): URL => new URL(`${url}/api/mcp/streamable-http`);

/** The common interface of the clients of both versions. */
export interface Agent {
  tools(): Promise<Json[]>;
  /** Returns the structured result, or the error. */
  call(name: string, args?: object): Promise<Json>;
  readonly client: Json;
  close(): Promise<void>;
}

type Generation = 'earlier' | 'current';
export const generations: readonly Generation[] = ['earlier', 'current'];

export async function connect(
  app: Pick<TestApp, 'url'>,
  token: string,
  generation: Generation = 'current',
  options: object = {},
): Promise<Agent> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const info = { name: 'test-agent', version: '1.0.0' };
  const client: Json =
    generation === 'current'
      ? new Client(info, { versionNegotiation: { mode: 'auto' }, ...options })
      : new EarlierClient(info, options);
  const transport =
    generation === 'current'
      ? new StreamableHTTPClientTransport(endpointOf(app), { requestInit })
      : new EarlierTransport(endpointOf(app), { requestInit });
  await client.connect(transport);
  return {
    client,
    tools: async () => (await client.listTools()).tools,
    async call(name, args = {}) {
      const answer = await client.callTool({ name, arguments: args });
      return answer.isError ? JSON.parse(answer.content[0].text).error : answer.structuredContent;
    },
    close: () => client.close(),
  };
}

/** Sends one message unchanged. */
export async function post(
  app: Pick<TestApp, 'url'>,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(endpointOf(app), {
    method: 'POST',
    body: JSON.stringify(message),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** A tool call in the earlier protocol version. */
export const toolCall = (name: string, args: object = {}, id = 1): object => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name, arguments: args },
});
