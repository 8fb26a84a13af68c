/**
 * Numbers about the form of an issue: lengths, marks, code, traces, links, cues of the lexicon in title and prose, and
 * the rates of function words. Bounded roughly to 0–3 each, so that the kernel over them needs no learned scale.
 */
import type { Document } from './document.ts';
import { CUES } from './lexicon.ts';

const FUNCTION_WORDS = (
  'i me my we our you your it its this that these those there here he they them a an the and or but if then so because ' +
  'when while where what which who how why not no can could would should will may might must do does did is are was were be been ' +
  'have has had to of in on at by for from with without as into about after before only also just still even more than other any some all ' +
  'same each please want need like get use make see try know think'
).split(' ');

const TRACE_LINE =
  /^[ \t]*(?:at \S+|File ".*", line \d+|#\d+\s|Traceback|Caused by|\S+Error:|\S+Exception)/gm;
const log = (n: number): number => Math.log1p(n);

export type Named = { readonly name: string; readonly value: number };

/** Always the same names in the same order. */
export function structure(document: Document): Named[] {
  const { title, body, prose, code } = document;
  const lowTitle = title.toLowerCase();
  const lowProse = prose.toLowerCase().slice(0, 6000);
  const head = lowProse.slice(0, 300);
  const words = lowProse.match(/[a-z']+/g) ?? [];
  const titleWords = lowTitle.match(/[a-z']+/g) ?? [];
  const out: Named[] = [];
  const put = (name: string, value: number): void => void out.push({ name, value });
  const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

  put('title length', log(titleWords.length));
  put('title characters', log(title.length) / 2);
  put('length', log(body.length) / 3);
  put('prose length', log(words.length) / 2);
  put('code length', log(code.length) / 3);
  put('code share', code.length / (body.length + 1));
  put('lines', log(document.lines.length) / 2);
  put('template headings', log(document.sections.length));
  put('template comments', log(document.comments.length) / 3);
  put(
    'empty answers',
    log(document.sections.filter((s) => s.value === '' || s.value === 'no response').length),
  );
  put('code blocks', log(count(body, /^[ \t]*```/gm)));
  put('inline code', log(count(prose + title, /`/g)));
  put('a stack trace', log(count(body, TRACE_LINE)));
  put('links', log(count(body, /https?:\/\//g)));
  put('images', log(count(body, /!\[|<img|\.png|\.jpg|\.gif/g)));
  put('references to issues', log(count(body, /#\d{2,}|\/(?:issues|pull)\/\d+/g)));
  put('mentions', log(count(prose, /@[a-z]\w+/gi)));
  put('checkboxes', log(count(body, /\[[ xX]\]/g)));
  put('ticked checkboxes', log(count(body, /\[[xX]\]/g)));
  put('list items', log(count(body, /^[ \t]*[-*]\s/gm)));
  put('numbered steps', log(count(body, /^[ \t]*\d{1,3}[.)]\s/gm)));
  put('quotes', log(count(body, /^[ \t]*>/gm)));
  put('bold', log(count(body, /\*\*/g)));
  put('tables', log(count(body, /^[ \t]*\|/gm)));
  put('question marks', log(count(prose, /\?/g)));
  put('a question in the title', lowTitle.includes('?') ? 1.5 : 0);
  put('exclamation marks', log(count(prose, /!/g)));
  put('version numbers', log(count(body, /(?<!\d)\d{1,5}\.\d{1,5}\.\d{1,5}/g)));
  put('file paths', log(count(body, /(?<![\w.-])[\w.-]{1,60}\/[\w.-]{1,60}\/[\w.-]/g)));
  put('hexadecimal addresses', log(count(body, /0x[0-9a-f]{4,}/gi)));
  put('times of a log', log(count(body, /\d\d:\d\d:\d\d/g)));
  put('capital words', log(count(prose, /\b[A-Z]{3,}\b/g)));
  put('capitals in the title', (count(title, /[A-Z]/g) / (title.length + 1)) * 3);
  put('identifiers in the title', log(count(title, /\w+[._:]+\w+|\w+\(|[a-z][A-Z]/g)));
  put('a tag in the title', /^\s*\[|^\w+\s?:/.test(title) ? 1 : 0);
  put('ASCII only', /[^\u0000-\u007f]/.test(prose) ? 1 : 0);
  put('short lines', log(document.lines.filter((l) => l.length < 30).length) / 2);
  put('sentences', log(count(prose, /[.!?]\s/g)) / 1.5);
  put('first person', log(count(lowProse, /\b(?:i|my|me|i'm|i've)\b/g)));
  put('first letter lower-case', /^[a-z]/.test(title) ? 1 : 0);
  put('word length', words.join('').length / (words.length + 1) / 3);
  const answers = document.sections.map((s) => s.value);
  const declared = (pattern: RegExp): number => (answers.some((answer) => pattern.test(answer)) ? 1.5 : 0);
  put('a template answer “bug”', declared(/^bugs?\b/));
  put('a template answer “feature”', declared(/^(?:feature|enhancement|improvement|proposal|new feature)\b/));
  put(
    'a template answer “question”',
    declared(/^(?:question|support|help|usage|how to|documentation|others?)\b/),
  );
  put('a template answer of another kind', declared(/^(?:performance|build|install|regression|crash)\b/));
  put(
    'a bug template',
    /bug[_ -]?report|describe the (?:bug|issue)|what the bug is/i.test(document.comments) ? 1 : 0,
  );
  put('a feature template', /feature[_ -]?request/i.test(document.comments) ? 1 : 0);
  put('a yes in the template', declared(/^(?:yes|true)\b/) / 1.5);
  put('a no in the template', declared(/^(?:no|false|none|n\/a|na)\b/) / 1.5);
  const start = /^\s*(?:\[[^\]]*\]|[\w/ -]{1,20}:)?\s*([a-z']+)/.exec(lowTitle)?.[1] ?? '';
  put(
    'a title that opens with a request',
    /^(?:add|support|allow|implement|provide|make|enable|use|introduce|improve|remove|update|replace|consider|expose|extend|change|move|create|option|please|request|proposal|feature|ability|better|more|new)$/.test(
      start,
    )
      ? 1.5
      : 0,
  );
  put(
    'a title that opens with a question',
    /^(?:how|why|what|when|where|which|is|are|can|could|does|do|should|would|has|any|anyone|who)$/.test(start)
      ? 1.5
      : 0,
  );
  put(
    'a title that opens with a failure',
    /^(?:error|crash|cannot|can't|fails?|failed|failure|bug|unable|wrong|incorrect|broken|missing|fix|segfault|assertion|unexpected|doesn't)$/.test(
      start,
    )
      ? 1.5
      : 0,
  );
  put(
    'a title in the third person',
    / (?:is|are|does|has|was|do|should|shouldn't|doesn't|isn't|can't|cannot|won't) /.test(lowTitle) ? 1 : 0,
  );
  put('a title of one or two words', titleWords.length <= 2 ? 1 : 0);
  put(
    '“please” and “help” in the title',
    /\b(?:help|please|need|question|problem|issue|trouble)\b/.test(lowTitle) ? 1 : 0,
  );
  put('a body of one line', document.lines.length <= 2 ? 1 : 0);
  put('a last line that asks or thanks', /\?|thank|help|appreciat/.test(lowProse.slice(-160)) ? 1 : 0);
  put(
    'questions per sentence',
    Math.min(2, (count(prose, /\?/g) * 5) / (1 + count(prose, /[.!?](?:\s|$)/g))),
  );
  put('a capital “I”', log(count(prose, /\bI\b/g)));
  put('a lower-case “i”', log(count(prose, /\bi\b/g)));
  put('commands', log(count(body, /^[ \t]*(?:\$|>>>|#|%) \S/gm)));
  put(
    'program text',
    log(
      count(
        document.code,
        /[{};][ \t]*$|^[ \t]*(?:import|from|def|class|const|let|var|function|#include|return)\b/gm,
      ),
    ),
  );
  for (const cue of CUES) {
    put(`${cue.name} in the title`, cue.pattern.test(lowTitle) ? 1.5 : 0);
    put(`${cue.name} at the start`, cue.pattern.test(head) ? 1 : 0);
    put(cue.name, cue.pattern.test(lowProse) ? 1 : 0);
  }
  const rate = new Map<string, number>();
  for (const word of words) rate.set(word, (rate.get(word) ?? 0) + 1);
  for (const word of FUNCTION_WORDS)
    put(`“${word}”`, Math.min(2, Math.sqrt(((rate.get(word) ?? 0) / (words.length + 10)) * 20)));
  return out;
}
