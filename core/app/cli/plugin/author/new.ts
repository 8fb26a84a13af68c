// `tatami plugin new NAME`: a folder with a plugin that works, to begin from.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Check } from 'typebox/value';
import { pluginId } from '../../../../../sdk/plugin/manifest.ts';
import { sdkSources } from '../../../../features/plugins/offline.ts';
import { version } from '../../../version.ts';
import { CommandError, exitCodes, printResult } from '../../lib/output.ts';
import { packedName } from './packed-name.ts';
import { globalsText, packageText, pluginText, readmeText, testText, tsconfigText } from './template.ts';

/** @param folder where relative paths begin */
export function newPlugin(name: string, options: { dir?: string; json?: boolean }, folder: string): void {
  if (!Check(pluginId, name))
    throw new CommandError(
      `The name of a plugin must have lower-case letters, digits, hyphens and dots, such as acme.triage, not ${JSON.stringify(name)}.`,
      exitCodes.usage,
    );
  const dir = options.dir ?? name;
  const root = resolve(folder, dir);
  requireEmpty(root, dir);
  const files = filesOf(name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { flag: 'wx' });
  }
  printResult({ dir, name, files: Object.keys(files) }, options, (made) =>
    [
      `Created ${made.name} 0.1.0 in ${made.dir}. It comments on each new issue. Next:`,
      `  cd ${made.dir}`,
      '  tatami plugin pack .',
      `  tatami plugin install ./${packedName(name)}`,
      'Edit plugin.ts, then pack and install again. Check its types with an editor or npx -p typescript tsc.',
    ].join('\n'),
  );
}

function requireEmpty(root: string, dir: string): void {
  mkdirSync(root, { recursive: true });
  if (readdirSync(root).length > 0)
    throw new CommandError(`${dir} is not empty. Choose another folder with --dir, or empty it.`);
}

function filesOf(name: string): Record<string, string> {
  const sdk = Object.entries(sdkSources()).map(([path, text]) => [`sdk/${path}`, text]);
  return {
    'plugin.ts': pluginText(name, version),
    'plugin.test.ts': testText,
    'package.json': packageText(name),
    'tsconfig.json': tsconfigText,
    'globals.d.ts': globalsText,
    'README.md': readmeText(name),
    '.gitignore': 'node_modules\n*.tatami.json\n',
    ...Object.fromEntries(sdk),
  };
}
