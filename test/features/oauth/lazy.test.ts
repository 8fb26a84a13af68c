import { expect, test } from 'bun:test';
import { sources } from '../../imports.ts';

test('the protocol library is imported in one place and loaded on first use', () => {
  const engine = 'core/features/oauth/engine/';
  const outside = sources('core').filter(({ file }) => !file.startsWith(engine));
  const loading = outside.filter(({ imports }) =>
    imports.some(({ path, typesOnly }) => path.startsWith(engine) && !typesOnly),
  );
  expect(loading.map(({ file }) => file)).toEqual(['core/features/oauth/runtime.ts']);
  expect(loading[0]?.text).toContain("await import('./engine/engine.ts')");
  expect(loading[0]?.text).not.toMatch(/^import (?!type).*engine\//m);
});
