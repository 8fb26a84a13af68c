// Invariants of every month: the log has no gap, published releases are unchanged, boards count correctly,
// and the doctor reports nothing.
import { expect } from 'bun:test';
import { readConfig } from '../../core/app/config/config.ts';
import { examine } from '../../core/app/doctor/doctor.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import type { Json } from '../app.ts';
import type { Simulation } from './simulation.ts';

export async function isSound(simulation: Simulation, dataDir: string): Promise<void> {
  const { app, ok } = simulation;
  const sequences: number[] = [];
  for (let after = 0; ; after = sequences.at(-1)!) {
    const { data, pageInfo } = await ok('GET', `/events?limit=100&after=${after}`);
    sequences.push(...data.map(({ sequence }: Json) => sequence));
    if (!pageInfo.hasNextPage) break;
  }
  expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, index) => index + 1));
  await countsBoard(simulation);
  const releases: Json[] = (await ok('GET', '/releases')).data;
  expect(releases.map(({ tag, status }) => [tag, status])).toEqual([
    ['1.0.1', 'published'],
    ['1.0.0', 'rolled_back'],
  ]);
  expect(app.logs.filter(({ level }) => level === 'error')).toEqual([]);
  await app.settled();
  const now = app.clock.now();
  await app.stop();
  const subject = openSubject(readConfig({ dataDir, sandboxJail: 'off', backupDir: '' }, {}), now);
  const results = await examine(subject, () => undefined).finally(subject.close);
  const errors = results.flatMap(({ check, findings }) =>
    findings.filter(({ level }) => level === 'error').map(({ message }) => `${check}: ${message}`),
  );
  expect(errors).toEqual([]);
}

async function countsBoard({ ok, model }: Simulation): Promise<void> {
  const [board] = (await ok('GET', '/boards')).data;
  const { columns, elsewhere } = await ok('GET', `/boards/${board.id}/cards?perColumn=1`);
  const ofTeam = model.live().filter(({ team }) => team === 'ENG');
  const counts = ['unstarted', 'started', 'completed'].map(
    (type) => ofTeam.filter(({ state }) => state === type).length,
  );
  expect(columns.map(({ count }: Json) => count)).toEqual(counts);
  expect(elsewhere).toBe(ofTeam.length - counts.reduce((sum, count) => sum + count, 0));
}
