// `tatami completion SHELL` prints a script for the shell, which asks `tatami __complete` for the words that may follow.
import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Candidates: a word and its description, separated by a tab, one per line. */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of tatami for bash: eval "$(tatami completion bash)"
_tatami() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # Bash splits words at = and :, which the command must see whole.
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(tatami __complete "\${words[@]}" 2>/dev/null | cut -f1)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tatami tatami`,
  zsh: `#compdef tatami
# Completion of tatami for zsh: eval "$(tatami completion zsh)"
_tatami() {
  local -a candidates
  local word text
  while IFS=$'\\t' read -r word text; do
    candidates+=("\${word//:/\\\\:}:\${text}")
  done < <(tatami __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#candidates} )); then _describe 'tatami' candidates; else _files; fi
}
compdef _tatami tatami`,
  fish: `# Completion of tatami for fish: tatami completion fish | source
function __tatami_complete
  set -l words (commandline -opc) (commandline -ct)
  tatami __complete $words[2..-1] 2>/dev/null
end
complete -c tatami -f -a '(__tatami_complete)'
complete -c tatami -n 'test (count (__tatami_complete)) -eq 0' -F`,
};

export const completionScript = (shell: Shell): string => scripts[shell];

/**
 * Returns the candidates for the last word, each with its description after a tab.
 * @param words arguments so far; the last one is the word under the cursor, which may be empty
 */
export function candidatesOf(program: Command, words: readonly string[]): string[] {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const { command, pending } = reached(program, before);
  if (pending) return choicesOf(pending).filter(startsWith(current));
  if (current.startsWith('--') && current.includes('=')) return inOneWord(command, current);
  const options = current.startsWith('-') ? optionsOf(command) : [];
  return [...subcommandsOf(command), ...options].filter(startsWith(current));
}

const startsWith =
  (start: string) =>
  (candidate: string): boolean =>
    candidate.startsWith(start);

/** Follows the words to a command. `pending` is the option whose value comes next. */
function reached(
  program: Command,
  words: readonly string[],
): { command: Command; pending: Option | undefined } {
  let command = program;
  let pending: Option | undefined;
  for (const word of words) {
    if (pending) {
      pending = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => word === long || word === short);
      if (option && !option.isBoolean() && !option.optional && !option.negate) pending = option;
      continue;
    }
    command = command.commands.find((one) => one.name() === word || one.aliases().includes(word)) ?? command;
  }
  return { command, pending };
}

const described = (word: string, text: string): string => `${word}\t${text.replaceAll(/\s+/g, ' ')}`;

const choicesOf = ({ argChoices = [] }: Option): string[] =>
  argChoices.map((choice) => described(choice, ''));

/** `--priority=h` */
function inOneWord(command: Command, current: string): string[] {
  const [flag = ''] = current.split('=', 1);
  const option = command.options.find(({ long }) => long === flag);
  return (option?.argChoices ?? [])
    .map((choice) => described(`${flag}=${choice}`, ''))
    .filter(startsWith(current));
}

function subcommandsOf({ commands }: Command): string[] {
  const visible = commands.filter((command) => !command.name().startsWith('__'));
  return visible.map((command) => described(command.name(), command.summary() || command.description()));
}

function optionsOf({ options }: Command): string[] {
  const visible = options.filter(({ hidden, long }) => !hidden && long !== undefined);
  return [
    ...visible.map(({ long, description }) => described(long!, description)),
    described('--help', 'show the help'),
  ];
}
