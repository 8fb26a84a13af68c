import { expect, test } from 'bun:test';
import { fieldsOfEvents } from './event-fields.ts';
import { chipFields } from './filter.ts';

test('events of issues have all fields of issues', () => {
  expect(fieldsOfEvents(['issue.*'])).toEqual(chipFields);
  expect(fieldsOfEvents(['issue.created', 'issue.subscribed'])).toEqual(chipFields);
});

test('events of several namespaces have the fields that they share', () => {
  expect(fieldsOfEvents(['issue.*', 'comment.added'])).toEqual(['team', 'createdAt', 'updatedAt']);
  expect(fieldsOfEvents(['sla.*', 'issue.created'])).toEqual(['assignee', 'team', 'createdAt', 'updatedAt']);
  expect(fieldsOfEvents(['milestone.*', 'comment.*'])).toEqual(['createdAt', 'updatedAt']);
});

test.each([[['*']], [['issue.*', '*']], [['issue.*', 'member.added']], [['issues']], [[]]])(
  'chips cannot filter %p',
  (patterns) => {
    expect(fieldsOfEvents(patterns)).toEqual([]);
  },
);
