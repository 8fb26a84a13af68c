// Folders of plugins as authors write them, for tests of the command line.
import { mkdirSync, writeFileSync } from 'node:fs';

interface Dir {
  path(name: string): string;
}

/** @returns writes the folder of a plugin, and answers its path */
export const folderIn =
  (dir: Dir) =>
  (name: string, source: string, more: Record<string, string> = {}): string => {
    mkdirSync(dir.path(name), { recursive: true });
    for (const [file, text] of Object.entries({ ...more, 'plugin.ts': source }))
      writeFileSync(dir.path(`${name}/${file}`), text);
    return dir.path(name);
  };

export const imports = `import { definePlugin } from '@tatami/sdk/plugin';\n`;
/** A definition over several lines, of which `on` is the fifth and `schedules` the sixth of the file. */
export const definition = (
  parts: Partial<Record<'scopes' | 'on' | 'schedules' | 'settings' | 'before', string>>,
): string =>
  `${imports}${parts.before ?? ''}
export default definePlugin({ id: 'com.test.lines', version: '1.0.0', engines: { tatami: '*' },
  scopes: { ${parts.scopes ?? `'issues:read': { why: 'to read' }`} },
  on: { ${parts.on ?? `'issue.created': { handle() {} }`} },
  schedules: { ${parts.schedules ?? ''} },
  settings: { ${parts.settings ?? ''} },
});
`;
