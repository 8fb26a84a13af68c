import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineContract, scopeOfContract, type Contract } from '../kernel/contract/contract.ts';
import { choice, number, reference, text } from '../kernel/contract/field.ts';
import { checkContracts, contracts, eventsOf } from './contracts.ts';
import { namespaceOf, namespaceScopes } from '../kernel/events/catalogue.ts';
import { defineResource } from '../kernel/resource/define.ts';
import { modelOf } from '../kernel/resource/model.ts';
import { plainOperations } from '../kernel/resource/operations.ts';
import { labelModel } from './labels/index.ts';

const thing = defineContract({
  undo: 'values',
  name: 'thing',
  path: 'things',
  title: 'Thing',
  id: 'thg',
  doc: 'A thing.',
  fields: { name: text({ max: 10, required: true }) },
  operations: {},
  events: { created: 'thing.created' },
  directory: { as: 'things', entryFields: ['name'] },
});

test('two resources cannot claim the same name, and the error names both', () => {
  const claims: readonly [keyof Contract, unknown, string][] = [
    ['path', 'labels', 'thing and label both claim the path labels.'],
    ['id', 'lbl', 'thing and label both claim the id prefix lbl.'],
    ['id', 'evt', 'thing and event both claim the id prefix evt.'],
    ['title', 'Label', 'thing and label both claim the title Label.'],
    ['events', { created: 'label.created' }, 'thing and label both claim the event label.created.'],
    [
      'directory',
      { as: 'labels', entryFields: [] },
      'thing and label both claim the directory section labels.',
    ],
  ];
  expect(() => checkContracts([...contracts, thing])).not.toThrow();
  for (const [fact, value, message] of claims)
    expect(() => checkContracts([...contracts, { ...thing, [fact]: value }])).toThrow(message);
});

test('a contract that would fail at the first request is rejected at start with an instruction', () => {
  const open = { ...thing, operations: { create: 'Make a thing' } };
  const optional = { ...open, fields: { ...open.fields, size: number({}) } };
  expect(() => checkContracts([optional])).toThrow('thing.size is optional and has no default');
  const builtIn = { ...open, fields: { version: text({ max: 10, required: true }) } };
  expect(() => checkContracts([builtIn])).toThrow('thing.version is a built-in field of every object');
  const strange = { ...open, fields: { size: choice(['s', 'l'], { default: 'm' }) } };
  expect(() => checkContracts([strange])).toThrow('thing.size has an invalid default: "m"');
  expect(() => text({ max: 9, pattern: '^v' })).toThrow('what ^v accepts');
  const deletable = { ...thing, operations: { delete: 'Delete a thing' } };
  expect(() => defineResource(deletable, labelModel as never)).toThrow(
    'thing has the operation delete: name its event',
  );
  const forgetful = { ...deletable, events: { deleted: 'thing.deleted' } };
  expect(() => defineResource(forgetful, labelModel as never)).toThrow('set retainsDeleted');
  const ofTeam = { ...thing, ofTeam: true } as const;
  expect(() => modelOf(ofTeam)).toThrow('Objects of thing belong to a team');
  const nowhere = { name: 'elsewhere', id: 'els' };
  const referring = { ...thing, fields: { ...thing.fields, place: reference(nowhere) } };
  expect(() => modelOf(referring)).toThrow('thing.place shows name of elsewhere');
  const below = { ...thing, parent: { name: 'issue', path: 'issues', id: 'iss' } };
  expect(() => plainOperations(below, labelModel as never, {})).toThrow('thing has a parent');
});

test('events are read with the scope of their resource, and every contract is listed', () => {
  for (const contract of contracts)
    for (const type of eventsOf(contract.events))
      expect([type, namespaceScopes[namespaceOf(type)]]).toEqual([
        type,
        // Events of automations come from several contracts, but share one namespace and one scope.
        namespaceOf(type) === 'automation'
          ? 'automations:read'
          : ((contract as Contract).subscriptionScope ?? scopeOfContract(contract, 'read')),
      ]);
  const defined = [...new Bun.Glob('**/contract.ts').scanSync(import.meta.dir)].flatMap(
    (file) => readFileSync(join(import.meta.dir, file), 'utf8').match(/= defineContract\(/g) ?? [],
  );
  expect(defined.length).toBe(contracts.length);
});

test('a contract is plain data that survives a JSON round trip', () => {
  for (const contract of contracts) {
    const { examples: _, ...said } = JSON.parse(JSON.stringify(contract)) as Contract;
    expect(said.name).toBe(contract.name);
    expect(Object.keys(said.fields)).toEqual(Object.keys(contract.fields));
    expect(JSON.stringify(contract)).not.toContain('[object');
  }
});
