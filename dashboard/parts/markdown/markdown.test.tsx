import { expect, test } from 'bun:test';
import { renderToStaticMarkup } from 'react-dom/server';
import { parse } from './markdown-parse.ts';
import { Elements, withTaskChanged } from './markdown-tree.tsx';
import { OwnImages, type ImageOf } from './own-images.ts';

const render = (source: string): string =>
  renderToStaticMarkup(<Elements root={parse(source)} source={source} />);

const attacks = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java\tscript:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:msgbox(1))',
  '![x](javascript:alert(1))',
  '![x](data:image/svg+xml,<svg onload=alert(1)>)',
  '<javascript:alert(1)>',
  '[x]: javascript:alert(1)\n\n[x]',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<details open ontoggle=alert(1)>',
  '`<img src=x onerror=alert(1)>`',
  '```\n</code></pre><script>alert(1)</script>\n```',
  '| <b onclick=alert(1)> |\n|---|\n| <i onmouseover=alert(1)> |',
  '[x](http://a"onmouseover="alert(1))',
  '![" onerror="alert(1)](https://a.example/b)',
  '<math><mi xlink:href="javascript:alert(1)">',
  '- [ ] <input autofocus onfocus=alert(1)>',
];

test.each(attacks)('%p becomes neither a tag nor an attribute of its own', (source) => {
  const markup = render(source);
  const tags = [...markup.matchAll(/<([a-z0-9]+)([^>]*)>/g)];
  for (const [, tag, attributes] of tags) {
    expect(['script', 'iframe', 'svg', 'math', 'details', 'object', 'style']).not.toContain(tag);
    expect(attributes).not.toMatch(/\son\w+=(?!"?$)/);
    expect(attributes).not.toMatch(/href="(?!https?:|mailto:|\/)/);
  }
  expect(markup).not.toMatch(/<img/);
});

test('raw HTML is shown as text', () => {
  expect(render('a <b>bold</b> word')).toBe('<p>a &lt;b&gt;bold&lt;/b&gt; word</p>');
});

test('links open in a new tab without access to this one', () => {
  expect(render('[site](https://example.com)')).toBe(
    '<p><a href="https://example.com" target="_blank" rel="noopener noreferrer">site</a></p>',
  );
});

test('an image of another server waits for a click', () => {
  const markup = render('![chart](https://images.example/chart.png)');
  expect(markup).toContain('chart: Load image from images.example');
  expect(markup).not.toContain('<img');
});

test('an image that its screen knows is shown at once, and every other one as before', () => {
  const imageOf: ImageOf = (src, name) => (src === '/own' ? <b>{name}</b> : null);
  const source = '![mine](/own) ![other](/other) ![far](https://images.example/a.png)';
  const shown = renderToStaticMarkup(
    <OwnImages value={imageOf}>
      <Elements root={parse(source)} source={source} />
    </OwnImages>,
  );
  expect(shown).toContain('<b>mine</b> other ');
  expect(shown).toContain('far: Load image from images.example');
});

test('identifiers of issues are links, in text alone', () => {
  expect(render('see ENG-42')).toBe('<p>see <a href="/issues/ENG-42">ENG-42</a></p>');
  expect(render('`ENG-42`')).toBe('<p><code>ENG-42</code></p>');
});

test('tables, task lists and code keep their structure', () => {
  expect(render('| a |\n|---|\n| b |')).toContain('<td>b</td>');
  expect(render('- [x] done')).toContain('type="checkbox"');
  expect(render('```ts\nconst a = 1;\n```')).toBe('<pre tabindex="0"><code>const a = 1;</code></pre>');
});

test('deep nesting ends', () => {
  expect(render('> '.repeat(500) + 'x')).toContain('nested too deeply');
});

test('headings follow those of the page without a gap', () => {
  const levelsOf = (source: string): string[] =>
    [...render(source).matchAll(/<(h\d)/g)].map(([, tag]) => tag!);
  expect(levelsOf('# a\n### b\n# c')).toEqual(['h3', 'h4', 'h3']);
  expect(levelsOf('### a\n# b')).toEqual(['h3', 'h3']);
});

test('a text with too many parts has no tree', () => {
  const source = 'a\n\n'.repeat(10);
  expect(parse(source, 21)).not.toBeNull();
  expect(parse(source, 20)).toBeNull();
  expect(parse('A-1 '.repeat(20), 20)).toBeNull();
});

test('checking a task changes the box of this task alone', () => {
  const source = '[x] no task\n\n- [ ] first\n  1. [X] nested\n';
  const first = source.indexOf('- [ ]');
  expect(withTaskChanged(source, first)).toBe(source.replace('- [ ]', '- [x]'));
  expect(withTaskChanged(source, source.indexOf('1. [X]'))).toBe(source.replace('[X]', '[ ]'));
  expect(withTaskChanged('- [\n  ] a\n- [ ] b', 0)).toBeNull();
  expect(withTaskChanged('- [x]: /url\n  [ ] pay', 0)).toBeNull();
});
