import { expect, test } from 'bun:test';
import { defaultFields, fieldsOfText, shownFields, textOfFields } from './display.ts';

test('the address names the fields only where they differ from the default ones', () => {
  expect(textOfFields(defaultFields)).toBeUndefined();
  expect(textOfFields(defaultFields.toReversed())).toBeUndefined();
  expect(textOfFields(['assignee', 'state'])).toBe('state,assignee');
  expect(textOfFields([])).toBe('none');
});

test('an address gives back the fields that it was made of', () => {
  for (const fields of [[], ['estimate'], shownFields, defaultFields] as const)
    expect(fieldsOfText(textOfFields(fields))).toEqual(fields);
});

test('unknown fields of an address are left out', () => {
  expect(fieldsOfText('state,color,estimate')).toEqual(['state', 'estimate']);
});
