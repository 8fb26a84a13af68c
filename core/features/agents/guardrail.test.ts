import { expect, test } from 'bun:test';
import { guardedClasses, type GuardedClass } from '../../platform/lib/guarded-classes.ts';
import { classesOf, type ToolEffect } from './agent.ts';

const effect = (overrides: Partial<ToolEffect> = {}): ToolEffect => ({
  does: 'update',
  stateBefore: 'started',
  stateAfter: 'started',
  isOwn: true,
  ...overrides,
});

const rows: readonly (readonly [what: string, effects: ToolEffect[], classes: GuardedClass[]])[] = [
  ['nothing', [], []],
  ['a change of its own issue', [effect()], []],
  ['a new issue', [effect({ does: 'create', stateBefore: undefined, isOwn: false })], []],
  [
    'a new issue that is created as done',
    [effect({ does: 'create', stateBefore: undefined, stateAfter: 'completed' })],
    [],
  ],
  ['ten new issues', Array.from({ length: 10 }, () => effect({ does: 'create' })), []],
  ['its own issue, completed', [effect({ stateAfter: 'completed' })], ['finish']],
  ['its own issue, canceled', [effect({ stateAfter: 'canceled' })], ['finish']],
  ['its own issue, marked as a duplicate', [effect({ stateAfter: 'duplicate' })], ['finish']],
  ['canceled, then completed', [effect({ stateBefore: 'canceled', stateAfter: 'completed' })], ['finish']],
  [
    'a completed issue whose title changes',
    [effect({ stateBefore: 'completed', stateAfter: 'completed' })],
    [],
  ],
  ['an issue that is reopened', [effect({ stateBefore: 'completed', stateAfter: 'started' })], []],
  ['an issue of another member', [effect({ isOwn: false })], ['others']],
  [
    'an issue of another member, completed',
    [effect({ isOwn: false, stateAfter: 'completed' })],
    ['finish', 'others'],
  ],
  ['its own issue, deleted', [effect({ does: 'delete' })], ['delete']],
  ['a deletion does not also finish', [effect({ does: 'delete', stateAfter: 'completed' })], ['delete']],
  ['two of its own', [effect(), effect()], ['bulk']],
  ['two, one of another member', [effect(), effect({ isOwn: false })], ['bulk', 'others']],
  ['one change beside a new issue', [effect(), effect({ does: 'create' })], []],
  ['many, deleted', [effect({ does: 'delete' }), effect({ does: 'delete' })], ['delete', 'bulk']],
];

test.each(rows)('%s', (_, effects, classes) => {
  expect([...classesOf(effects)].sort()).toEqual([...classes].sort());
});

test('every class is covered by a case', () => {
  expect([...new Set(rows.flatMap(([, , classes]) => classes))].sort()).toEqual([...guardedClasses].sort());
});
