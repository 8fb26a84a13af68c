// Every entity declares who may undo its changes, and by which operation. `UPDATE_DOCS=1 bun test
// test/attacks/undo-answers` writes the table of docs/plugins/undo.md.
import { afterAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopeOfContract, type Contract } from '../../core/kernel/contract/contract.ts';
import { contracts } from '../../core/features/contracts.ts';
import { storedModels } from '../../core/app/features.ts';
import { startApp } from '../app.ts';

const page = join(import.meta.dir, '../../docs/plugins/undo.md');
const app = await startApp();
const names = new Set(app.app.routes.map(({ name }) => name));
afterAll(() => app.stop());

const byName = (contract: Contract, operation: string): string | null => {
  const name = `${contract.path}.${operation}`;
  return names.has(name) ? `\`${name}\`` : null;
};

function answerOf(contract: Contract): string {
  const { undo } = contract;
  const scope = scopeOfContract(contract, 'write');
  if (typeof undo === 'object') return undo.never;
  if (undo === 'values') return `Needs \`${scope}\`. The previous values are restored.`;
  const operationNames = ['update', 'delete', 'restore'].flatMap(
    (operation) => byName(contract, operation) ?? [],
  );
  const final = byName(contract, 'delete') && !byName(contract, 'restore') ? ' A deletion is final.' : '';
  return `Needs the permissions of ${operationNames.join(' and ')}.${final}`;
}

test('every entity declares who may undo its changes; changes of rights are undone by their own operations, or never', () => {
  const deciding = ['member', 'api_key', 'grant', 'oauth_app', 'plugin', 'webhook', 'workspace', 'proposal'];
  for (const name of deciding) expect(contracts.find((one) => one.name === name)?.undo).not.toBe('values');
  for (const contract of contracts) {
    if (typeof contract.undo === 'object') expect(contract.undo.never).toMatch(/^[A-Z].{20,}\.$/);
    if (contract.undo === 'operations')
      expect([contract.name, byName(contract, 'update')]).not.toContain(null);
  }
});

test('no other entity is written without such a declaration', () => {
  const known = new Set(contracts.map(({ name }) => name));
  expect([...storedModels.keys()].filter((name) => !known.has(name))).toEqual([]);
});

test('docs/plugins/undo.md lists the declarations', () => {
  const rows = contracts
    .map((contract) => `| ${contract.title} | ${answerOf(contract)} |`)
    .toSorted()
    .join('\n');
  const [before, rest = ''] = readFileSync(page, 'utf8').split(
    /(?<=## Permissions to undo\n[^#]*\|---\|---\|\n)/,
  );
  const after = rest.slice(rest.search(/^(?!\|)/m));
  const rendered = `${before}${rows}\n${after}`;
  if (process.env.UPDATE_DOCS) writeFileSync(page, rendered);
  expect(readFileSync(page, 'utf8')).toBe(rendered);
});
