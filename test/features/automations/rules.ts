// Helpers for tests of automations.
import { expect } from 'bun:test';
import type { Json, TestApp } from '../../app.ts';

export const v1 = '/api/v1';

/** Parts of a rule; the default is paused and on probation. */
export interface RuleInput {
  readonly name?: string;
  readonly trigger?: object;
  readonly actions?: readonly object[];
  readonly [name: string]: unknown;
}

export const onCreate = { type: 'event', event: 'issue.created' } as const;
export const setHigh = { type: 'set', fields: { priority: 'high' } } as const;

/** Creates a rule that writes without approval, and enables it. */
export async function enabled(app: TestApp, rule: RuleInput): Promise<Json> {
  const created = await createRule(app, { probation: false, ...rule });
  const answer = await app.call('POST', `${v1}/automations/${created.id}/enable`, { force: true });
  expect(answer.json).toMatchObject({ state: 'active', stateReason: null });
  return answer.json;
}

export async function createRule(app: TestApp, rule: RuleInput): Promise<Json> {
  const body = { name: 'Rule', trigger: onCreate, actions: [setHigh], ...rule };
  const { status, json } = await app.call('POST', `${v1}/automations`, body);
  expect([status, json]).toMatchObject([201, { state: 'paused' }]);
  return json;
}

export async function createIssue(app: TestApp, fields: object = {}): Promise<Json> {
  const { json } = await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Crash', ...fields });
  await app.settled();
  return getIssue(app, json.id);
}

export const getIssue = async (app: TestApp, id: string): Promise<Json> =>
  (await app.call('GET', `${v1}/issues/${id}`)).json;
