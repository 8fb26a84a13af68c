// Plugin folders for command-line tests.
import { mkdirSync, writeFileSync } from 'node:fs';

interface Dir {
  path(name: string): string;
}

/** @returns a function that writes a plugin folder and returns its path */
export const folderIn =
  (dir: Dir) =>
  (name: string, source: string, more: Record<string, string> = {}): string => {
    mkdirSync(dir.path(name), { recursive: true });
    for (const [file, text] of Object.entries({ ...more, 'plugin.ts': source }))
      writeFileSync(dir.path(`${name}/${file}`), text);
    return dir.path(name);
  };

export const imports = `import { definePlugin } from '@tatami/sdk/plugin';\n`;
/** A definition over several lines, with `on` on the fifth and `schedules` on the sixth line of the file. */
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
