// Serves the tools, resources and prompts that the conformance suite expects by name over the transport of
// the endpoint. This covers features of the protocol that Tatami does not use, such as images and progress.
import * as sdk from '@modelcontextprotocol/server';
import { bodyIn } from '../../../core/features/agents/messages.ts';
import { carry } from '../../../core/features/agents/endpoint.ts';

const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const sound = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (words: string) => ({ type: 'text' as const, text: words });
const image = { type: 'image' as const, data: picture, mimeType: 'image/png' };
const document = (uri: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: words },
});
const none = { type: 'object', properties: {} } as const;

/** The input schema that the suite requires of one tool, in JSON Schema 2020-12. */
const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, and no promise
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const;

type Call = (ctx: sdk.ServerContext) => Promise<sdk.CallToolResult> | sdk.CallToolResult;

const content =
  (...parts: sdk.CallToolResult['content']): Call =>
  () => ({ content: parts });
const tools: Readonly<Record<string, Call>> = {
  test_simple_text: content(text('This is a simple text response for testing.')),
  test_image_content: content(image),
  test_audio_content: content({ type: 'audio', data: sound, mimeType: 'audio/wav' }),
  test_embedded_resource: content(
    document('test://embedded-resource', 'This is an embedded resource content.'),
  ),
  test_multiple_content_types: content(
    text('Multiple content types test:'),
    image,
    document('test://mixed-content-resource', '{"test":"data","value":123}'),
  ),
  test_error_handling: () => ({
    isError: true,
    content: [text('This tool intentionally returns an error for testing')],
  }),
  async test_tool_with_progress({ mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100])
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
    return { content: [text('Done')] };
  },
  json_schema_2020_12_tool: content(text('ok')),
};

function createFixture(): sdk.McpServer {
  const server = new sdk.McpServer(
    { name: 'fixture', version: '1.0.0' },
    { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} } },
  );
  const on = server.server;
  on.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      description: `The tool ${name} of the suite.`,
      inputSchema: (name === 'json_schema_2020_12_tool' ? schema2020 : none) as sdk.Tool['inputSchema'],
    })),
  }));
  on.setRequestHandler('tools/call', ({ params: { name } }, ctx) => {
    const call = tools[name];
    if (!call) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `No tool ${name}`);
    return call(ctx);
  });
  on.setRequestHandler('resources/list', () => ({
    resources: [{ uri: 'test://static-text', name: 'Text', mimeType: 'text/plain' }],
  }));
  on.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ name: 'Template', uriTemplate: 'test://template/{id}/data' }],
  }));
  on.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [read(uri)] }));
  servePrompts(on);
  return server;
}

function read(uri: string): sdk.ReadResourceResult['contents'][number] {
  const id = /^test:\/\/template\/(.*)\/data$/.exec(uri)?.[1];
  if (id !== undefined)
    return { uri, mimeType: 'application/json', text: JSON.stringify({ id, data: `Data for ${id}` }) };
  if (uri === 'test://static-text')
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: picture };
  throw new sdk.ResourceNotFoundError(uri);
}

function servePrompts(on: Pick<sdk.Server, 'setRequestHandler'>): void {
  const prompts: Readonly<
    Record<string, (args: Record<string, string>) => sdk.GetPromptResult['messages'][number]['content'][]>
  > = {
    test_simple_prompt: () => [text('This is a simple prompt for testing.')],
    test_prompt_with_arguments: ({ arg1, arg2 }) => [
      text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
    ],
    test_prompt_with_embedded_resource: ({ resourceUri = '' }) => [
      document(resourceUri, 'Embedded.'),
      text('Please process it.'),
    ],
    test_prompt_with_image: () => [image, text('Please analyze the image above.')],
  };
  on.setRequestHandler('prompts/list', () => ({
    prompts: Object.keys(prompts).map((name) => ({ name, description: `The prompt ${name} of the suite.` })),
  }));
  on.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }) => {
    const make = prompts[name];
    if (!make) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `No prompt ${name}`);
    return { messages: make(args).map((one) => ({ role: 'user' as const, content: one })) };
  });
}

/** Serves the fixture on its own address, without tokens. */
export function serveFixture(): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const bytes = new Uint8Array(await request.arrayBuffer());
      const { method, headers, url } = request;
      const path = new URL(url).pathname;
      const holdOpen = () => ({ letGo: () => undefined, hangUp: () => undefined });
      const {
        status = 200,
        contentType,
        body,
        headers: others,
      } = await carry(sdk, createFixture, {
        ...{ baseUrl: new URL(url).origin, bytes, body: bodyIn(bytes), subscription: null },
        rawRequest: { method, path, headers, holdOpen },
      });
      return new Response(body as string | ReadableStream, {
        status,
        headers: { ...(others as Record<string, string>), 'content-type': contentType },
      });
    },
  });
}
