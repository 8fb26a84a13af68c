// Templates: values, texts, limits, restricted tags, and the check of a rule's texts.
import { describe, expect, test } from 'bun:test';
import {
  checkTemplate,
  outputCharsMax,
  renderAll,
  renderInput,
  templateCharsMax,
  type TemplateScope,
} from './template.ts';

const scope: TemplateScope = {
  issue: { id: 'iss_1', title: 'Crash', estimate: 3, labels: [{ id: 'lbl_1', name: 'bug' }], assignee: null },
  event: {
    type: 'issue.updated',
    data: { title: 'Crash', long: 'x'.repeat(60_000) },
    actor: { name: 'Ana' },
  },
  previous: { estimate: 1 },
  parent: null,
  webhook: { ok: true, items: [1, 2] },
  rule: { id: 'atm_1', name: 'Triage' },
  now: '2026-11-20T12:00:00.000Z',
};
const render = (value: unknown): unknown => renderAll(value, () => scope, 'Action 1 (set), fields');
const errorOf = (value: unknown): string => {
  try {
    render(value);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('a text that is exactly one expression', () => {
  for (const [text, value] of [
    ['{{ issue.estimate }}', 3],
    ['{{issue.estimate | plus: 2}}', 5],
    ['{{- issue.labels -}}', [{ id: 'lbl_1', name: 'bug' }]],
    ['{{ issue.assignee }}', null],
    ['{{ issue.unknown.deep }}', null],
    ['{{ webhook.ok }}', true],
    ['{{ webhook.items | first }}', 1],
    ['{{ issue.title }}', 'Crash'],
  ] as const)
    test(`yields the value of ${text} with its type`, () => expect(render(text)).toEqual(value));
});

describe('another text', () => {
  for (const [text, value] of [
    ['No template', 'No template'],
    ['{ not } a %} template', '{ not } a %} template'],
    ['{{ issue.estimate }} points', '3 points'],
    [' {{ issue.estimate }}', ' 3'],
    ['{{ issue.estimate }}{{ previous.estimate }}', '31'],
    ['By {{ event.actor }}: {{ issue.labels }}', 'By Ana: bug'],
    ['[{{ issue.unknown }}{{ parent.title }}]', '[]'],
    ['{{ webhook }}!', '{"ok":true,"items":[1,2]}!'],
    ['{% if issue.estimate > 2 %}big{% else %}small{% endif %}', 'big'],
    ['{% unless parent %}alone{% endunless %}', 'alone'],
    ['{% case event.type %}{% when "issue.updated" %}changed{% else %}other{% endcase %}', 'changed'],
    ['{% assign name = rule.name | downcase %}{% echo name %}{% comment %}no{% endcomment %}', 'triage'],
    ['{% raw %}{{ issue.title }}{% endraw %}', '{{ issue.title }}'],
    ['{{ now | date: "%d.%m.%Y %H:%M" }} UTC', '20.11.2026 12:00 UTC'],
  ] as const)
    test(`renders ${text}`, () => expect(render(text)).toBe(value));
});

test('texts in lists and objects are rendered, names and other values are unchanged', () => {
  const value = { '{{ issue.title }}': ['{{ issue.title }}', 4, null], deep: { of: '{{ issue.estimate }}' } };
  expect(render(value)).toEqual({ '{{ issue.title }}': ['Crash', 4, null], deep: { of: 3 } });
});

test('a value without templates is returned as it is, and reads no scope', () => {
  const value = { priority: 'high', labels: ['bug'] };
  const unread = (): never => {
    throw new Error('The scope was read.');
  };
  expect(renderAll(value, unread, 'fields')).toBe(value);
});

test('references that templates copy become ids in input for the API, and literal objects stay', () => {
  const value = { labels: '{{ issue.labels }}', filter: { id: 'iss_1' }, title: '{{ issue.title }}' };
  expect(renderInput(value, () => scope, 'fields')).toEqual({
    ...{ labels: ['lbl_1'], filter: { id: 'iss_1' }, title: 'Crash' },
  });
});

test('an unknown member of a known object is refused with the nearest one', () => {
  const members = { issue: ['id', 'title', 'labels'], event: ['type', 'data'] };
  expect(checkTemplate('{{ issue.titel }}', members)).toBe(
    'The name "issue.titel" is unknown. Did you mean "title"?',
  );
  expect(checkTemplate('{{ event.payload.x }}', members)).toBe(
    'The name "event.payload" is unknown. Use type or data.',
  );
  for (const text of [
    '{{ issue["title"] }}',
    '{{ issue.labels.size }}',
    '{{ issue }}',
    '{{ event.data.any }}',
  ])
    expect([text, checkTemplate(text, members)]).toEqual([text, null]);
});

describe('the tag', () => {
  for (const tag of [
    ...['for', 'tablerow', 'include', 'render', 'layout', 'block', 'capture', 'cycle', 'increment'],
    ...['decrement', 'break', 'continue', 'liquid', '#'],
  ])
    test(`${tag} is not available`, () => {
      const fix = `The tag "${tag}" is not available. Use assign, case, comment, echo, if, raw or unless.`;
      expect(checkTemplate(`{% ${tag} a in b %}`)).toBe(fix);
      expect(errorOf({ title: `{% ${tag} a in b %}` })).toBe(`Action 1 (set), fields.title: ${fix}`);
    });
});

test('filters that evaluate an expression for each item are not available', () => {
  for (const filter of ['where_exp', 'reject_exp', 'group_by_exp', 'has_exp', 'find_exp', 'find_index_exp'])
    expect(checkTemplate(`{{ issue.labels | ${filter}: "l", "l.name" }}`)).toContain(
      `undefined filter: ${filter}`,
    );
});

describe('the limits of a template', () => {
  test('are exact for its length', () => {
    const longest = `{{ issue.title }}${'x'.repeat(templateCharsMax - 17)}`;
    expect(render(longest)).toBe(`Crash${'x'.repeat(templateCharsMax - 17)}`);
    expect(checkTemplate(`${longest}x`)).toBe('The template has 10001 characters. Shorten it to 10000.');
  });

  test('stop long outputs, also of exact expressions', () => {
    const long = 'longer than 65536 characters';
    expect(errorOf('{{ event.data.long }}{{ event.data.long }}')).toContain(long);
    expect(errorOf('{{ event.data.long | append: event.data.long }}')).toContain(long);
    expect(render(`{{ event.data.long }}${'y'.repeat(outputCharsMax - 60_000)}`)).toHaveLength(
      outputCharsMax,
    );
  });

  test('stop values that double', () => {
    const text = `{% assign x = "ab" %}${'{% assign x = x | append: x %}'.repeat(40)}`;
    expect(errorOf(text)).toContain('memory alloc limit exceeded. Shorten the template.');
    const wide = '{% assign x = "a" | replace: "a", "aaaaaaaaaaaaaaaa" %}';
    expect(errorOf(`${wide}${wide.replace('"a" |', 'x |').repeat(8)}`)).toContain('limit exceeded');
    expect(errorOf('{{ now | date: "%999999999Y" }}')).not.toBe('');
  });
});

test('prototypes are out of reach', () => {
  for (const path of ['constructor', '__proto__', 'toString', 'labels.constructor', 'title.constructor.name'])
    expect(render(`{{ issue.${path} }}`)).toBeNull();
});

describe('the check of a text', () => {
  for (const text of [
    'plain',
    '{{ issue.title }}',
    '{% assign a = now %}{{ a }}',
    '{{ event.data[rule.name] }}',
  ])
    test(`accepts ${text}`, () => expect(checkTemplate(text)).toBeNull());

  for (const [text, error] of [
    ['{{ isue.title }}', 'The name "isue" is unknown. Did you mean "issue"?'],
    [
      '{{ customer.name }}',
      'The name "customer" is unknown. Use event, issue, now, parent, previous, rule or webhook.',
    ],
    [
      '{{ issue.title | shout }}',
      'The template is invalid at line 1, column 1: undefined filter: shout. Correct the template.',
    ],
    [
      'a\n{{ issue.title',
      'The template is invalid at line 2, column 1: output "{{ issue.title" not closed. Correct the template.',
    ],
    [
      '{% if issue %}',
      'The template is invalid at line 1, column 1: tag {% if issue %} not closed. Correct the template.',
    ],
  ] as const)
    test(`explains ${JSON.stringify(text)}`, () => expect(checkTemplate(text)).toBe(error));
});
