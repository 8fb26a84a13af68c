// Finds mentions in a text: `@` and a name or handle of a member, outside of code. A handle is the first
// name, or the words of the name joined by nothing, a dot, a hyphen or an underscore. An ambiguous name
// mentions nobody; `@usr_…` is always unique.
import type { Directory } from '../../kernel/context.ts';
import { foldName } from '../../platform/lib/text/words.ts';
import { plainText } from '../../platform/lib/text/markdown.ts';

/** Maximum number of mentions in one text; further ones are ignored. */
const mentionsMax = 50;

/** Folded name or handle → ids of the members that it may mean. */
type Names = ReadonlyMap<string, ReadonlySet<string>>;

const known = new WeakMap<Directory['members'], Names>();
const handle = /[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?/uy;

/** Returns member ids in the order of their first mention. */
export function mentionsIn(markdown: string, { members }: Directory): string[] {
  if (!markdown.includes('@')) return [];
  const names = namesOf(members);
  const text = plainText(markdown);
  const ids = new Set<string>();
  for (const { index } of text.matchAll(/(?<![\p{L}\p{N}_.@/-])@/gu)) {
    const id = memberAt(text, index + 1, members, names);
    if (id !== undefined) ids.add(id);
    if (ids.size === mentionsMax) break;
  }
  return [...ids];
}

/** Matches the longest name of up to four words at this index. */
function memberAt(text: string, at: number, members: Directory['members'], names: Names): string | undefined {
  const line = /^[^\n]{0,160}/.exec(text.slice(at, at + 161))?.[0] ?? '';
  const ends = wordEnds(line);
  for (const end of ends.toReversed()) {
    const candidate = line.slice(0, end);
    if (members.get(candidate)?.removed === false) return candidate;
    const meant = names.get(foldName(candidate));
    if (meant?.size === 1) return [...meant][0];
    if (meant) return undefined;
  }
  return undefined;
}

/** Returns the end indexes of the first four words of a line. */
function wordEnds(line: string): number[] {
  const ends: number[] = [];
  for (let at = 0; ends.length < 4;) {
    handle.lastIndex = at;
    if (!handle.test(line)) break;
    ends.push(handle.lastIndex);
    if (line[handle.lastIndex] !== ' ') break;
    at = handle.lastIndex + 1;
  }
  return ends;
}

function namesOf(members: Directory['members']): Names {
  const cached = known.get(members);
  if (cached) return cached;
  const names = new Map<string, Set<string>>();
  for (const { id, name, removed } of members.values()) {
    if (removed) continue;
    const folded = foldName(name.trim());
    const words = folded.split(/\s+/);
    const called = [words.join(' '), words[0]!, ...['', '.', '-', '_'].map((mark) => words.join(mark))];
    for (const one of called) names.set(one, (names.get(one) ?? new Set<string>()).add(id));
  }
  known.set(members, names);
  return names;
}
