/** Measures the CPU time of an issue in the engine of the sandbox, in this process started once. */
import { fileURLToPath } from 'node:url';
import { engineFlags } from '../../core/platform/sandbox/fleet/spawn.ts';
import { findNode } from '../../core/platform/sandbox/locate.ts';
import { train } from '../../plugins/auto-triage/model/train.ts';
import { finish } from './cross-validate.ts';
import type { Repository } from './data.ts';

/** Issues of the usual model and index of a team. */
const indexedMax = 1472;
const program = fileURLToPath(new URL('jitless.ts', import.meta.url));

/** Returns the CPU time of each fifth issue of a repository, with a model of the others and an index of all repositories. */
export async function cpuTimesOf(
  repository: Repository,
  all: readonly Repository[],
): Promise<readonly number[]> {
  const { examples } = repository;
  const input = {
    model: finish(train(examples.filter((_, i) => i % 5 !== 0))),
    indexed: all.flatMap((one) => one.examples).slice(0, indexedMax),
    asked: examples.filter((_, i) => i % 5 === 0),
  };
  const { outputs } = await Bun.build({ entrypoints: [program], target: 'node', format: 'esm' });
  const code = await outputs[0]?.text();
  const child = Bun.spawn([findNode(), ...engineFlags, '--input-type=module', '--eval', code ?? ''], {
    stdin: new Blob([JSON.stringify(input)]),
    stderr: 'inherit',
  });
  return JSON.parse(await new Response(child.stdout).text());
}
