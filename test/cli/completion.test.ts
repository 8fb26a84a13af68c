// Completion in the shells that people use: each case is typed in a real shell, with the script of `tatami completion`.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { launcher } from '../program.ts';
import { runInTerminal } from './pseudo-terminal.ts';
import { temporary } from './tatami.ts';

/** Lines with one candidate, which is inserted. */
const inserted: readonly (readonly [string, string])[] = [
  ['tatami issues upd', 'tatami issues update'],
  // A noun and a verb by their other names.
  ['tatami issue triage acc', 'tatami issue triage accept'],
  ['tatami grants rev', 'tatami grants revoke'],
  // A noun whose verb is omitted.
  ['tatami search crash --assi', 'tatami search crash --assignee'],
  ['tatami search --priority=h', 'tatami search --priority=high'],
  ['tatami issues update ENG-1 --prio', 'tatami issues update ENG-1 --priority'],
  // The negation of a flag, which the help leaves out.
  ['tatami plugins update triage --no-prob', 'tatami plugins update triage --no-probation'],
  ['tatami issues update ENG-1 --priority h', 'tatami issues update ENG-1 --priority high'],
  ['tatami issues update ENG-1 --priority=h', 'tatami issues update ENG-1 --priority=high'],
  ['tatami api-keys create --scopes issues:r', 'tatami api-keys create --scopes issues:read'],
  ['tatami api-keys create --scopes=a:b,issues:w', 'tatami api-keys create --scopes=a:b,issues:write'],
  [
    'tatami issues create --description "a: b" --prio',
    'tatami issues create --description "a: b" --priority',
  ],
  ['tatami attachments upload ENG-1 not', 'tatami attachments upload ENG-1 notes.md'],
  ['tatami plugins pack --out not', 'tatami plugins pack --out notes.md'],
  ['tatami plugins pack --out=not', 'tatami plugins pack --out=notes.md'],
  ['tatami comments create ENG-1 --body @not', 'tatami comments create ENG-1 --body @notes.md'],
  ['tatami comments create ENG-1 --body=@texts/a', 'tatami comments create ENG-1 --body=@texts/april.md'],
  ['tatami completion f', 'tatami completion fish'],
  ['./tatami issues upd', './tatami issues update'],
  // Files are candidates only where a file is expected.
  ['tatami issues show not', 'tatami issues show not'],
  ['tatami issues update ENG-1 --title not', 'tatami issues update ENG-1 --title not'],
];

/** Lines with several candidates, which are listed. */
const listed: readonly (readonly [string, readonly string[]])[] = [
  ['tatami issues triage ', ['accept', 'decline', 'snooze']],
  ['tatami issues update ENG-1 --p', ['--parent', '--priority', '--project']],
  ['tatami issues update ENG-1 --priority ', ['none', 'low', 'medium', 'high', 'urgent']],
  ['tatami doctor ', ['fix']],
  // Errors of the program do not reach the terminal.
  ['broken/tatami issues upd', []],
];

interface Shell {
  /** Returns the line after the tabulator key. */
  insert(line: string): Promise<string>;
  /** Returns the text with which the shell lists the candidates. */
  list(line: string): Promise<string>;
  end(): void;
}

const dir = temporary();
const home = dir.path('.');
const env = { PATH: `${home}:${process.env.PATH}`, HOME: home, TERM: 'xterm', LANG: 'C.UTF-8' };
beforeAll(() => {
  mkdirSync(dir.path('texts'));
  mkdirSync(dir.path('broken'));
  for (const file of ['notes.md', 'texts/april.md']) writeFileSync(dir.path(file), '');
  symlinkSync(launcher, dir.path('tatami'));
  writeFileSync(dir.path('broken/tatami'), '#!/bin/sh\necho oops >&2\nexit 1\n', { mode: 0o755 });
});
afterAll(() => dir[Symbol.dispose]());

/** The line, printed by the key Ctrl-X P. */
const printed = /<<(.*)>>/;

/** @param setUp binds Ctrl-X L to the list of candidates, and Ctrl-X P to printing the line */
async function lineEditor(command: readonly string[], setUp: string): Promise<Shell> {
  writeFileSync(dir.path('setup'), `${setUp}\necho ready.\n`);
  const terminal = runInTerminal(command, env, home);
  const ask = async (keys: string): Promise<string> => {
    const seen = terminal.shown().length;
    terminal.type(`${keys}\u0018p`);
    await terminal.until((shown) => printed.test(shown.slice(seen)));
    return terminal.shown().slice(seen);
  };
  terminal.type('. ./setup\n');
  await terminal.until((shown) => shown.includes('ready.'));
  return {
    insert: async (line) => printed.exec(await ask(`${line}\t`))![1]!.trimEnd(),
    list: (line) => ask(`${line}\u0018l`),
    end: () => terminal.child.kill('SIGKILL'),
  };
}

const startBash = () =>
  lineEditor(
    ['bash', '--norc', '-i'],
    `PS1='$ '
    set +o history
    eval "$(tatami completion bash)"
    bind '"\\C-xl": possible-completions'
    bind 'set completion-query-items 0'
    bind -x '"\\C-xp": echo "<<$READLINE_LINE>>"; READLINE_LINE='`,
  );

const startZsh = () =>
  lineEditor(
    ['zsh', '-f', '-i'],
    `PS1='$ '
    unsetopt automenu
    eval "$(tatami completion zsh)"
    print-line() { zle -I; print -r -- "<<$BUFFER>>"; BUFFER= }
    zle -N print-line
    bindkey '^Xl' list-choices
    bindkey '^Xp' print-line`,
  );

/** Fish prints the candidates of a line itself, which takes no terminal. */
async function startFish(): Promise<Shell> {
  const script =
    'tatami completion fish | source; for line in $argv; echo; echo "<<$line>>"; complete -C $line; end 2>&1';
  const lines = [...inserted, ...listed].map(([line]) => line);
  const child = Bun.spawn(['fish', '--no-config', '-c', script, ...lines], { env, cwd: home });
  const text = await new Response(child.stdout).text();
  const listOf = (line: string): string => text.split(`\n<<${line}>>\n`)[1]!.split('\n<<', 1)[0]!.trim();
  return {
    list: async (line) => listOf(line),
    async insert(line) {
      const [only = '', ...others] = listOf(line).split('\n');
      if (only === '' || others.length > 0) return line;
      return `${line.slice(0, line.lastIndexOf(' '))} ${only.split('\t', 1)[0]}`;
    },
    end: () => undefined,
  };
}

describe.each([
  ['bash', startBash],
  ['zsh', startZsh],
  ['fish', startFish],
] as const)('completion in %s', (name, start) => {
  describe.skipIf(Bun.which(name) === null)(`(needs ${name})`, () => {
    let shell: Shell;
    beforeAll(async () => void (shell = await start()));
    afterAll(() => shell.end());

    test.each(inserted)('%s → %s', async (line, complete) => {
      expect(await shell.insert(line)).toBe(complete);
    });

    test.each(listed)('%s lists the candidates', async (line, candidates) => {
      const text = await shell.list(line);
      expect(text.split(/\s+/)).toEqual(expect.arrayContaining([...candidates]));
      expect(text).not.toMatch(/notes\.md|oops/);
    });

    // Bash lists words only.
    if (name === 'bash') return;
    test('candidates are listed with their descriptions', async () => {
      expect(await shell.list('tatami issues triage ')).toContain('accept an issue that is in triage');
    });
  });
});

// Others may have filled the folder.
test('names of files are text for bash, and those with control characters are no candidates', async () => {
  using other = temporary();
  for (const file of ['evil$(touch pwned).md', 'line\nissues\u001b[31m.md'])
    writeFileSync(other.path(file), '');
  const script = `eval "$("$0" completion bash)"
    COMP_LINE='tatami comments create ENG-1 --body @'"$1" COMP_POINT=\${#COMP_LINE}
    COMP_WORDS=(tatami comments create ENG-1 --body @ "$1") COMP_CWORD=6
    _tatami "$0" "$1" @
    eval "printf '%s|' \${COMPREPLY[*]}"`;
  const candidates = (start: string): string =>
    Bun.spawnSync(['bash', '-c', script, launcher, start], { cwd: other.path('.'), env }).stdout.toString();
  expect(candidates('ev')).toBe('evil$(touch pwned).md|');
  expect(candidates('li')).toBe('|');
});
