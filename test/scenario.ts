// A scenario row: a request, its expected response, and the exact events.
import { expect } from 'bun:test';
import type { Json, Reply, TestApp } from './app.ts';

interface Expected {
  status: number;
  /** Matched as a part of the body. */
  body?: object;
  /** The error code, and `path issue` of its details. */
  error?: [code: string, ...details: string[]];
  /** Expected event types in order; by default none. */
  events?: string[];
  headers?: Record<string, string>;
}

export interface Scenario {
  (method: string, path: string, body: unknown, expected: Expected): Promise<Json>;
}

export function scenarioOf(app: TestApp): Scenario {
  return async (method, path, body, expected) => {
    const from = await app.lastSequence();
    const reply = await app.call(method, `/api/v1${path}`, body, expected.headers);
    check(reply, expected);
    expect(await app.eventTypes(from)).toEqual(expected.events ?? []);
    return reply.json;
  };
}

function check(reply: Reply, expected: Expected): void {
  expect([reply.status, reply.status >= 400 && expected.status < 400 ? reply.text : '']).toEqual([
    expected.status,
    '',
  ]);
  if (expected.body) expect(reply.json).toMatchObject(expected.body);
  if (!expected.error) return;
  const { error } = reply.json;
  const [code, ...details] = expected.error;
  expect([error.code, ...error.details.map((detail: Json) => `${detail.path} ${detail.issue}`)]).toEqual([
    code,
    ...details,
  ]);
  expect(error.requestId).toBe(reply.headers.get('x-request-id'));
  expect(error.message.length).toBeGreaterThan(5);
}
