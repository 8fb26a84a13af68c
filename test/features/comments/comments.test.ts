import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { startFixtures, v1, type PeopleFixtures } from '../people.ts';

let fixtures: PeopleFixtures;
let issue: Json;

beforeAll(async () => {
  fixtures = await startFixtures();
  issue = await fixtures.file('The save dialog crashes', { description: '# Steps\n\n1. fill\n2. save' });
});
afterAll(() => fixtures.app.stop());

const say = async (body: string): Promise<Json> =>
  (await fixtures.app.call('POST', `${v1}/issues/${issue.id}/comments`, { body })).json;
const htmlOf = async (body: string): Promise<string> => {
  const { id } = await say(body);
  return (await fixtures.app.call('GET', `${v1}/comments/${id}?include=bodyHtml`)).json.bodyHtml;
};

test('an edit has a time, and the history has each earlier text with its author', async () => {
  const { app } = fixtures;
  const comment = await say('First');
  expect(comment.editedAt).toBe(null);
  const one = `${v1}/comments/${comment.id}`;
  app.clock.advance(60_000);
  const edited = (await app.call('PATCH', one, { body: 'Second' })).json;
  expect(edited.editedAt).toBe(new Date(app.clock.now()).toISOString());
  expect((await app.call('PATCH', one, { body: 'Second' })).json).toEqual(edited);
  await app.call('POST', `${one}/resolve`);
  app.clock.advance(60_000);
  await app.call('PATCH', one, { body: 'Third' });
  const editor = { kind: 'user', id: app.workspace.userId, name: 'Acme owner' };
  const { json: history } = await app.call('GET', `${one}/history`);
  expect(history.data).toMatchObject([
    { body: 'First', editor, editedAt: edited.editedAt, eventId: expect.stringMatching(/^evt_/) },
    { body: 'Second', editor, editedAt: new Date(app.clock.now()).toISOString() },
  ]);
  const { json: page } = await app.call('GET', `${one}/history?limit=1`);
  const after = `limit=1&after=${page.pageInfo.endCursor}`;
  expect((await app.call('GET', `${one}/history?${after}`)).json.data).toEqual([history.data[1]]);
  await app.call('DELETE', one);
  expect((await app.call('GET', `${one}/history`)).status).toBe(404);
});

test('HTML is returned on request for one comment, a list, and issues', async () => {
  const { app } = fixtures;
  const comment = await say('**Bold**');
  expect('bodyHtml' in comment).toBe(false);
  const { json: page } = await app.call('GET', `${v1}/issues/${issue.id}/comments?include=bodyHtml`);
  expect(page.data.at(-1)).toEqual({ ...comment, bodyHtml: '<p><strong>Bold</strong></p>\n' });
  const html = '<h1>Steps</h1>\n<ol>\n<li>fill</li>\n<li>save</li>\n</ol>\n';
  const one = `${v1}/issues/${issue.id}`;
  expect((await app.call('GET', `${one}?include=descriptionHtml`)).json.descriptionHtml).toBe(html);
  const sparse = `${v1}/issues?fields=title&include=descriptionHtml`;
  expect((await app.call('GET', sparse)).json.data).toEqual([
    { id: issue.id, title: 'The save dialog crashes', descriptionHtml: html },
  ]);
  expect((await app.call('GET', `${one}?include=bodyHtml`)).json.error.details[0]).toMatchObject({
    path: 'include',
    fix: expect.stringContaining('descriptionHtml'),
  });
  expect((await app.call('GET', `${one}?fields=descriptionHtml`)).status).toBe(422);
});

test('Markdown supports tables, tasks, code and links with rel=nofollow', async () => {
  expect(await htmlOf('- [x] done\n- [ ] open')).toContain('checked');
  expect(await htmlOf('| a | b |\n|:--|--:|\n| 1 | 2 |')).toContain('<td align="right">2</td>');
  expect(await htmlOf('```js\nlet a = "<b>";\n```')).toBe(
    '<pre><code class="language-js">let a = &quot;&lt;b&gt;&quot;;\n</code></pre>\n',
  );
  expect(await htmlOf('[x](https://a.example "t") https://b.example mail@c.example')).toBe(
    '<p><a href="https://a.example" title="t" rel="nofollow noopener">x</a> <a href="https://b.example" rel="nofollow noopener">https://b.example</a> <a href="mailto:mail@c.example" rel="nofollow noopener">mail@c.example</a></p>\n',
  );
  expect(await htmlOf('![a](https://a.example/i.png)')).toContain(
    '<img src="https://a.example/i.png" alt="a"',
  );
});

const hostile = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<iframe src="https://a.example"></iframe>',
  '<a href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java\tscript:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](\u0001javascript:alert(1))',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
  '[x](vbscript:msgbox(1))',
  '[x](//a.example)',
  '[x](/api/v1/me)',
  '<javascript:alert(1)>',
  '![x](javascript:alert(1))',
  '![x](data:image/svg+xml,<svg/onload=alert(1)>)',
  '![x" onerror="alert(1)](https://a.example/i.png)',
  '[x](https://a.example" onmouseover="alert(1))',
  '[x](https://a.example "t\\" onmouseover=\\"alert(1)")',
  '[r]\n\n[r]: javascript:alert(1) "t"',
  '```"><script>alert(1)</script>\nx\n```',
  '``` x" onclick="alert(1)\nx\n```',
  '<!--><script>alert(1)</script>-->',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<p style="position:fixed">x</p>',
  '<form action="https://a.example"><button>x</button></form>',
  '`<img src=x onerror=alert(1)>`',
  '\\<script>alert(1)</script>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=1> |',
  '# <svg onload=alert(1)>',
  '<math><mtext></p><script>alert(1)</script>',
  '<a\nhref="javascript:alert(1)"\n>x</a>',
  '<base href="https://a.example/">',
  '<meta http-equiv="refresh" content="0;url=https://a.example">',
  '<input autofocus onfocus=alert(1)>',
];
const elements = new Set(
  'p br hr strong em del code pre blockquote ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr th td a img input'.split(
    ' ',
  ),
);
const attributes = new Set([
  'href',
  'title',
  'src',
  'alt',
  'start',
  'class',
  'type',
  'checked',
  'disabled',
  'align',
  'rel',
]);

test('rendered HTML runs no script, loads nothing, and contains no raw HTML', async () => {
  for (const body of hostile) {
    const html = await htmlOf(body);
    const violations: string[] = [];
    // HTMLRewriter parses the output as a browser does.
    new HTMLRewriter()
      .on('*', {
        element(element) {
          if (!elements.has(element.tagName)) violations.push(element.tagName);
          for (const [name, value] of element.attributes) {
            if (!attributes.has(name)) violations.push(name);
            if (name === 'href' && !/^(https?:\/\/|mailto:)/.test(value)) violations.push(value);
            if (name === 'src' && !/^https?:\/\//.test(value)) violations.push(value);
          }
          if (element.tagName === 'a' && element.getAttribute('rel') !== 'nofollow noopener')
            violations.push('rel');
        },
        comments: () => void violations.push('comment'),
      })
      .transform(html);
    expect([body, html, violations]).toEqual([body, html, []]);
  }
});

test('a deleted first comment stays as a placeholder without its text while its thread has replies', async () => {
  const { app, ben } = fixtures;
  const threads = (await fixtures.file('Threads')) as Json;
  const all = `${v1}/issues/${threads.id}/comments`;
  const add = async (body: string, parentId: string | null = null): Promise<Json> =>
    (await ben.call('POST', all, { body, parentId })).json;
  const listed = async (query = ''): Promise<Json[]> => (await ben.call('GET', all + query)).json.data;
  const root = await add('**Secret** @Ana Lindqvist');
  expect(root.mentions.length).toBe(1);
  const reply = await add('A reply', root.id);
  const one = `${v1}/comments/${root.id}`;
  const since = await app.lastSequence();
  expect((await ben.call('DELETE', one)).status).toBe(204);
  const placeholder = {
    id: root.id,
    body: '',
    mentions: [],
    author: root.author,
    deletedAt: expect.any(String),
  };
  expect(await listed('?include=bodyHtml')).toMatchObject([
    { ...placeholder, bodyHtml: '' },
    { id: reply.id, parentId: root.id, body: 'A reply', deletedAt: null },
  ]);
  expect((await ben.call('GET', one)).json).toMatchObject(placeholder);
  // The placeholder is read-only.
  for (const [method, path] of [
    ['PATCH', one],
    ['POST', `${one}/resolve`],
    ['DELETE', one],
    ['GET', `${one}/history`],
  ] as const) {
    const body = method === 'PATCH' ? { body: 'Back' } : undefined;
    expect([method, (await ben.call(method, path, body)).status]).toEqual([method, 404]);
  }
  const more = await add('More', root.id);
  expect(more.parentId).toBe(root.id);
  // The author finds the text in the trash.
  expect((await listed('?deleted=only')).map(({ body }) => body)).toEqual([root.body]);
  expect(await listed('?limit=1')).toMatchObject([placeholder]);
  expect((await ben.call('POST', `${one}/restore`)).json.body).toBe(root.body);
  expect((await listed())[0]!.body).toBe(root.body);
  // Without replies the placeholder disappears.
  for (const { id } of [root, reply, more]) await ben.call('DELETE', `${v1}/comments/${id}`);
  expect(await listed()).toEqual([]);
  expect((await ben.call('GET', one)).status).toBe(404);
  expect((await ben.call('POST', all, { body: 'Late', parentId: root.id })).status).toBe(422);
  const types = (await app.eventTypes(since)).filter((type) => type.startsWith('comment.'));
  expect(types).toEqual([
    'comment.deleted',
    'comment.added',
    'comment.restored',
    ...Array(3).fill('comment.deleted'),
  ]);
});
