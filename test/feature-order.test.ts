// Enforces the order of the features in core/app/features.ts on their imports, of types as well: imports between
// features in a circle would become a circle of modules as soon as they go through `index.ts`.
import { expect, test } from 'bun:test';
import { sources } from './imports.ts';

const featureOf = (path: string): string => /^core\/features\/([\w-]+)\//.exec(path)?.[1] ?? '';
const order = sources('core/app')
  .filter(({ file }) => file === 'core/app/features.ts')
  .flatMap(({ imports }) => imports.map(({ path }) => featureOf(path)))
  .filter((name) => name !== '');

/** A feature that is not in the list is later than all of them. */
const placeOf = (path: string): number =>
  order.includes(featureOf(path)) ? order.indexOf(featureOf(path)) : Infinity;

test('a feature imports only features above it in core/app/features.ts, and contracts', () => {
  const listed = sources('core/features').filter(({ file }) => order.includes(featureOf(file)));
  expect(listed.length).toBeGreaterThan(100);
  const isLater = (path: string, file: string): boolean =>
    featureOf(path) !== '' && placeOf(path) > placeOf(file) && !path.endsWith('/contract.ts');
  const later = listed.flatMap(({ file, imports }) =>
    imports.filter(({ path }) => isLater(path, file)).map(({ path }) => `${file} → ${path}`),
  );
  expect(later).toEqual([]);
});
