// `bun run build`: the executables and their hashes, in dist/.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildExecutable } from './executable.ts';
import { root } from './paths.ts';
import { targets } from './targets.ts';

const { values: options } = parseArgs({
  options: {
    target: { type: 'string', multiple: true, default: targets.map(({ name }) => name) },
    /** Zstd level: 19 for releases, 3 for a quick build. */
    level: { type: 'string', default: '19' },
    out: { type: 'string', default: join(root, 'dist') },
  },
});
const out = resolve(options.out);
mkdirSync(out, { recursive: true });

const sums: string[] = [];
for (const name of options.target) {
  const target = targets.find((one) => one.name === name);
  if (!target)
    throw new Error(`--target must be one of ${targets.map((one) => one.name).join(', ')}, not ${name}.`);
  const file = join(out, `tatami-${name}`);
  await buildExecutable(target, file, Number(options.level));
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  const megabytes = (statSync(file).size / 1_000_000).toFixed(1);
  console.log(`${basename(file)}  ${megabytes} MB  sha256 ${sha256}`);
  sums.push(`${sha256}  ${basename(file)}\n`);
}
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
