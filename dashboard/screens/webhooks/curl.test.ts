import { expect, test } from 'bun:test';
import { curlOf } from './curl.ts';

test('the command sends the exact bytes and headers of the last attempt', async () => {
  const received: { body: string; signature: string | null }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      received.push({ body: await request.text(), signature: request.headers.get('x-signature') });
      return new Response();
    },
  });
  const payload = `{"title":"It's $HOME \\"quoted\\" \`x\` ü"}`;
  const attempt = {
    requestHeaders: { 'x-signature': "v1=a'b", 'content-length': '3', 'content-type': 'application/json' },
  };
  const command = curlOf(`${server.url}hooks?a=1&b=2`, {
    payload,
    attemptList: [attempt as never],
  });
  await Bun.$`sh -c ${command}`.quiet();
  await server.stop();
  expect(received).toEqual([{ body: payload, signature: "v1=a'b" }]);
});
