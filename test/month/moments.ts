// Records reads during the month and compares them with later `asOf` reads.
import { expect } from 'bun:test';
import type { Json } from '../app.ts';
import type { Simulation } from './simulation.ts';
import type { Chance } from './scenario.ts';

export interface Moment {
  readonly sequence: number;
  readonly at: string;
  readonly answers: ReadonlyMap<string, Json>;
}

const lists = [
  '/issues?limit=100',
  '/issues?limit=100&sort=-priority,title',
  '/issues?limit=100&sort=updatedAt&deleted=include',
  '/issues?limit=100&filter={"or":[{"label":"checked"},{"state":"started"}]}',
  '/issues?limit=100&filter={"label":"reviewed"}',
  '/issues?limit=100&filter={"assignee":"Ana"}&sort=-estimate',
  '/issues?limit=100&team=OPS&sort=slaDueAt',
  '/issues?limit=100&filter={"cycle":"current"}',
  '/issues?limit=100&filter={"fields.points":{"gte":4}}&sort=fields.size',
];
const issuesOfEach = 10;

/** A restart takes another port. */
const address = /http:\/\/127\.0\.0\.1:\d+/g;

const bare = (status: number, json: Json): Json => {
  if (status !== 200) return { status };
  const { asOf: _, pageInfo, ...rest } = JSON.parse(JSON.stringify(json).replaceAll(address, ''));
  return pageInfo ? { ...rest, hasNextPage: pageInfo.hasNextPage } : rest;
};

export async function look({ app, model }: Simulation, chance: Chance): Promise<Moment> {
  const ids = [...model.issues.keys()];
  const some = Array.from({ length: issuesOfEach }, () => `/issues/${chance.pick(ids)}`);
  const paths = [...some, chance.pick(lists), chance.pick(lists), '/projects?limit=100'];
  const answers = new Map<string, Json>();
  for (const path of paths) {
    const { status, json } = await app.call('GET', `/api/v1${path}`);
    answers.set(path, bare(status, json));
  }
  const { json } = await app.call('GET', '/api/v1/audit-log?limit=1');
  return { sequence: json.data[0].sequence, at: new Date(app.clock.now()).toISOString(), answers };
}

export async function lookBack(
  { app }: Simulation,
  chance: Chance,
  moments: readonly Moment[],
): Promise<void> {
  for (const { sequence, at, answers } of moments)
    for (const [path, then] of answers) {
      const asOf = chance.of(0.5) ? at : String(sequence);
      const requestPath = `${path}${path.includes('?') ? '&' : '?'}asOf=${asOf}`;
      const { status, json } = await app.call('GET', `/api/v1${requestPath}`);
      expect({ asked: requestPath, answer: bare(status, json) }).toEqual({
        asked: requestPath,
        answer: then,
      });
      if (status === 200) expect([requestPath, json.asOf.sequence]).toEqual([requestPath, sequence]);
    }
}
