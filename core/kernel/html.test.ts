import { expect, test } from 'bun:test';
import { tokens } from './html.ts';

/** Returns the custom properties of the rule that begins with a selector. */
function valuesIn(selector: string): Map<string, string> {
  const [, rule = ''] = tokens.split(`${selector} {`);
  const properties = rule.slice(0, rule.indexOf('}')).matchAll(/(--[\w-]+): ([^;]+);/g);
  return new Map([...properties].map(([, name = '', value = '']) => [name, value]));
}

const isColor = (value: string): boolean => value.startsWith('#');

test('each color has a value in the dark theme, which is the same by choice and by the preference of the system', () => {
  const light = [...valuesIn(':root')].filter(([, value]) => isColor(value)).map(([name]) => name);
  const chosen = valuesIn(':root[data-theme=dark]');
  expect(light.length).toBeGreaterThan(10);
  expect([...chosen.keys()]).toEqual(light);
  expect(valuesIn('@media (prefers-color-scheme: dark) { :root:not([data-theme=light])')).toEqual(chosen);
});
