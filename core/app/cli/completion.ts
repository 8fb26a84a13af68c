// `tatami completion SHELL` prints a script for the shell, which asks `tatami __complete` for the words that may follow.
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command, Option } from 'commander';
import { printable } from '../../platform/lib/text/printable.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Line that asks the shell for the names of files. No candidate begins with a colon. */
const filesLine = ':files';

/**
 * The scripts run the command as it was typed, because it need not be on PATH. They read lines of a candidate and its description,
 * separated by a tab.
 */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of tatami for bash: eval "$(tatami completion bash)"
_tatami() {
  # Bash splits words at = : and @, which the command must see whole.
  local rest=\${COMP_LINE:0:COMP_POINT} words=() last=-1 i word trimmed
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed=\${rest#"\${rest%%[![:space:]]*}"}
    word=\${COMP_WORDS[i]}
    if ((i == COMP_CWORD)); then word=$trimmed; fi
    if ((i > 0)) && [[ $trimmed == "$rest" ]]; then words[last]+=$word; else words[++last]=$word; fi
    rest=\${trimmed#"$word"}
  done
  # Bash replaces only the part of the word that it passes as $2.
  local before=\${words[last]%"$2"}
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    # Bash inserts candidates as they are, and a name of a file may contain syntax.
    if [[ $word == *@* ]]; then printf -v word '%s%q' "$before" "\${word#"$before"}"; fi
    case $word in
      ${filesLine}) compopt -o default 2>/dev/null || COMPREPLY+=($(compgen -f -- "$2")) ;;
      */) compopt -o nospace 2>/dev/null; COMPREPLY+=("\${word#"$before"}") ;;
      *) COMPREPLY+=("\${word#"$before"}") ;;
    esac
  done < <("\${1/#\\~/$HOME}" __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _tatami tatami`,
  zsh: `#compdef tatami
# Completion of tatami for zsh: eval "$(tatami completion zsh)"
_tatami() {
  local -a candidates folders
  local word text files
  while IFS=$'\\t' read -r word text; do
    case $word in
      ${filesLine}) files=yes ;;
      */) folders+=("\${word//:/\\\\:}") ;;
      *) candidates+=("\${word//:/\\\\:}\${text:+:$text}") ;;
    esac
  done < <("\${\${(Q)words[1]}/#\\~/$HOME}" __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  (( \${#candidates} )) && _describe -V tatami candidates
  (( \${#folders} )) && _describe -V folder folders -S ''
  if [[ -n $files ]]; then
    [[ $PREFIX == -*=* ]] && compset -P '*='
    _files
  fi
}
if [[ $funcstack[1] == _tatami ]]; then
  _tatami "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
  compdef _tatami tatami
fi`,
  fish: `# Completion of tatami for fish: tatami completion fish | source
function __tatami_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    for line in ($program __complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = ${filesLine}
            set -l flag (string match -r -- '^-[^=]*=' $current)
            __fish_complete_path (string replace -- "$flag" '' $current) | string replace -r '^' -- "$flag"
        else
            echo $line
        end
    end
end
complete -c tatami -f -k -a '(__tatami_complete)'`,
};

export const completionScript = (shell: Shell): string => scripts[shell];

/**
 * Returns the candidates for the last word, each with its description after a tab.
 * @param words arguments so far; the last one is the word under the cursor, which may be empty
 * @param folder in which relative paths begin
 */
export function candidatesOf(program: Command, words: readonly string[], folder: string): string[] {
  const current = words.at(-1) ?? '';
  const place = placeAfter(program, words.slice(0, -1));
  const { command, pending, hasOnlyArguments } = place;
  if (pending) return valuesOf(pending, current, folder);
  if (!current.startsWith('-') || hasOnlyArguments) return wordsAt(place, current);
  const [flag = ''] = current.split('=', 1);
  const runs = runBy(command);
  if (flag === current) return optionsOf(runs, current);
  const option = runs.options.find(({ long }) => long === flag);
  const values = option ? valuesOf(option, current.slice(flag.length + 1), folder) : [];
  return values.map((value) => (value === filesLine ? value : `${flag}=${value}`));
}

/** Part of a command line before the cursor. */
interface Place {
  readonly command: Command;
  /** Option whose value comes next. */
  readonly pending: Option | undefined;
  /** Number of arguments of the command. */
  readonly given: number;
  /** True after `--`. */
  readonly hasOnlyArguments: boolean;
}

function placeAfter(program: Command, words: readonly string[]): Place {
  let place: Place = { command: program, pending: undefined, given: 0, hasOnlyArguments: false };
  for (const word of words) place = placeWith(place, word);
  return place;
}

function placeWith(place: Place, word: string): Place {
  const { command, pending, given, hasOnlyArguments } = place;
  if (pending) return { ...place, pending: undefined };
  if (!hasOnlyArguments && word === '--') return { ...place, hasOnlyArguments: true };
  if (!hasOnlyArguments && word.startsWith('-')) {
    const option = runBy(command).options.find(({ long, short }) => word === long || word === short);
    return { ...place, pending: option?.required ? option : undefined };
  }
  const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
  return next
    ? { ...place, command: next, given: 0 }
    : { ...place, command: runBy(command), given: given + 1 };
}

/** Returns the command that runs without a further verb: `search query` for `search`. Commander has no getter for it. */
export function runBy(command: Command): Command {
  const { _defaultCommandName: name } = command as { _defaultCommandName?: string | null };
  return command.commands.find((one) => one.name() === name) ?? command;
}

/** Returns subcommands, or values of the next argument. */
function wordsAt({ command, given }: Place, current: string): string[] {
  if (command.commands.length > 0 && given === 0) return subcommandsOf(command, current);
  const args = command.registeredArguments;
  const last = args.at(-1);
  const argument = args[given] ?? (last?.variadic ? last : undefined);
  if (!argument) return [];
  if (takesFile(argument.name())) return [filesLine];
  return (argument.argChoices ?? []).filter(startsWith(current));
}

/** Other names are candidates only where no name fits, because they would double the list. */
function subcommandsOf({ commands }: Command, current: string): string[] {
  const visible = commands.filter((command) => !command.name().startsWith('__'));
  const named = (namesOf: (command: Command) => readonly string[]): string[] =>
    visible.flatMap((command) =>
      namesOf(command)
        .filter(startsWith(current))
        .map((name) => described(name, command.summary() || command.description())),
    );
  const found = named((command) => [command.name()]);
  return found.length > 0 ? found : named((command) => command.aliases());
}

/** Options that the help hides are those that negate another. */
function optionsOf({ options }: Command, current: string): string[] {
  const visible = options.filter(({ hidden, negate }) => !hidden || (negate && current.startsWith('--no-')));
  return [
    ...visible.map(({ long, description }) => described(long!, description)),
    described('--help', 'show the help'),
  ].filter(startsWith(current));
}

function valuesOf(option: Option, current: string, folder: string): string[] {
  const { long, flags, argChoices = [] } = option;
  const placeholder = /<([^>]+)>/.exec(flags)?.[1] ?? '';
  if (takesFile(placeholder) || takesFile(long!.slice(2))) return [filesLine];
  // A value of an operation may be in a file, as `@notes.md`, which shells do not take for one.
  if (current.startsWith('@') && argChoices.length === 0) return filesAfter('@', current.slice(1), folder);
  if (placeholder !== 'list') return argChoices.filter(startsWith(current));
  const before = current.slice(0, current.lastIndexOf(',') + 1);
  const used = new Set(before.split(','));
  return argChoices
    .filter((choice) => !used.has(choice))
    .map((choice) => before + choice)
    .filter(startsWith(current));
}

/** @param name of an argument or option, or its placeholder */
const takesFile = (name: string): boolean => /(^|-)(file|dir|path|package|copy)$/.test(name);

function filesAfter(mark: string, path: string, folder: string): string[] {
  const start = path.slice(0, path.lastIndexOf('/') + 1);
  try {
    return (
      readdirSync(resolve(folder, start), { withFileTypes: true })
        .map((entry) => `${start}${entry.name}${entry.isDirectory() ? '/' : ''}`)
        .filter((name) => name.startsWith(path) && (path !== start || !name.startsWith(`${start}.`)))
        // Candidates are lines, and shells show them as they are.
        .filter((name) => printable(name) === name)
        .map((name) => mark + name)
    );
  } catch {
    return [];
  }
}

const startsWith =
  (start: string) =>
  (candidate: string): boolean =>
    candidate.startsWith(start);

/** The shells show one line. */
const described = (word: string, text: string): string =>
  `${word}\t${text.replaceAll(/\s+/g, ' ').replace(/\. .*/, '')}`;
