// Patterns measured by `structure.ts`: occurrence counts in a part of an issue, and flags for a part, the first word
// of the title or a template answer. `shown` measures may appear as evidence.

export type TextPart =
  'title' | 'titleLow' | 'titleStart' | 'body' | 'prose' | 'proseLow' | 'proseEnd' | 'comments' | 'code';

export type Measure = {
  readonly name: string;
  readonly part: TextPart;
  readonly pattern: RegExp;
  readonly shown?: boolean;
  /** Value of a matching {@link flagMeasures} entry; default 1. */
  readonly value?: number;
};

/** Measures with the value ln(1 + occurrences). */
export const countMeasures: readonly Measure[] = [
  { name: 'code blocks', part: 'body', pattern: /^[ \t]*```/gm },
  {
    name: 'a stack trace',
    part: 'body',
    pattern: /^[ \t]*(?:at \S+|File ".*", line \d+|#\d+\s|Traceback|Caused by|\S+Error:|\S+Exception)/gm,
    shown: true,
  },
  { name: 'links', part: 'body', pattern: /https?:\/\//g },
  { name: 'a picture', part: 'body', pattern: /!\[|<img|\.png|\.jpg|\.gif/g, shown: true },
  { name: 'references to issues', part: 'body', pattern: /#\d{2,}|\/(?:issues|pull)\/\d+/g },
  { name: 'mentions', part: 'prose', pattern: /@[a-z]\w+/gi },
  { name: 'checkboxes', part: 'body', pattern: /\[[ xX]\]/g },
  { name: 'ticked checkboxes', part: 'body', pattern: /\[[xX]\]/g },
  { name: 'list items', part: 'body', pattern: /^[ \t]*[-*]\s/gm },
  { name: 'numbered steps', part: 'body', pattern: /^[ \t]*\d{1,3}[.)]\s/gm, shown: true },
  { name: 'quotes', part: 'body', pattern: /^[ \t]*>/gm },
  { name: 'bold', part: 'body', pattern: /\*\*/g },
  { name: 'tables', part: 'body', pattern: /^[ \t]*\|/gm },
  { name: 'question marks', part: 'prose', pattern: /\?/g, shown: true },
  { name: 'exclamation marks', part: 'prose', pattern: /!/g },
  { name: 'version numbers', part: 'body', pattern: /(?<!\d)\d{1,5}\.\d{1,5}\.\d{1,5}/g, shown: true },
  {
    name: 'file paths',
    part: 'body',
    pattern: /(?<![\w.-])[\w.-]{1,60}\/[\w.-]{1,60}\/[\w.-]/g,
    shown: true,
  },
  { name: 'hexadecimal addresses', part: 'body', pattern: /0x[0-9a-f]{4,}/gi, shown: true },
  { name: 'a log with times', part: 'body', pattern: /\d\d:\d\d:\d\d/g, shown: true },
  { name: 'capital words', part: 'prose', pattern: /\b[A-Z]{3,}\b/g },
  { name: 'identifiers in the title', part: 'title', pattern: /\w+[._:]+\w+|\w+\(|[a-z][A-Z]/g, shown: true },
  { name: 'first person', part: 'proseLow', pattern: /\b(?:i|my|me|i'm|i've)\b/g },
  { name: 'a capital “I”', part: 'prose', pattern: /\bI\b/g },
  { name: 'a lower-case “i”', part: 'prose', pattern: /\bi\b/g },
  { name: 'commands', part: 'body', pattern: /^[ \t]*(?:\$|>>>|#|%) \S/gm },
  {
    name: 'program text',
    part: 'code',
    pattern: /[{};][ \t]*$|^[ \t]*(?:import|from|def|class|const|let|var|function|#include|return)\b/gm,
    shown: true,
  },
];

/** Measures with the value `value` or 0. */
export const flagMeasures: readonly Measure[] = [
  { name: 'a question in the title', part: 'title', pattern: /\?/, value: 1.5, shown: true },
  { name: 'a tag in the title', part: 'title', pattern: /^ *\[|^\w+ ?:/ },
  { name: 'other scripts', part: 'prose', pattern: /[\u0080-\uffff]/ },
  { name: 'first letter lower-case', part: 'title', pattern: /^[a-z]/ },
  {
    name: 'a bug template',
    part: 'comments',
    pattern: /bug[_ -]?report|describe the (?:bug|issue)|what the bug is/i,
    shown: true,
  },
  { name: 'a feature template', part: 'comments', pattern: /feature[_ -]?request/i, shown: true },
  {
    name: 'a title that opens with a request',
    part: 'titleStart',
    pattern:
      /^(?:add|support|allow|implement|provide|make|enable|use|introduce|improve|remove|update|replace|consider|expose|extend|change|move|create|option|please|request|proposal|feature|ability|better|more|new)$/,
    value: 1.5,
    shown: true,
  },
  {
    name: 'a title that opens with a question',
    part: 'titleStart',
    pattern: /^(?:how|why|what|when|where|which|is|are|can|could|does|do|should|would|has|any|anyone|who)$/,
    value: 1.5,
    shown: true,
  },
  {
    name: 'a title that opens with a failure',
    part: 'titleStart',
    pattern:
      /^(?:error|crash|cannot|can't|fails?|failed|failure|bug|unable|wrong|incorrect|broken|missing|fix|segfault|assertion|unexpected|doesn't)$/,
    value: 1.5,
    shown: true,
  },
  {
    name: 'a title in the third person',
    part: 'titleLow',
    pattern: / (?:is|are|does|has|was|do|should|shouldn't|doesn't|isn't|can't|cannot|won't) /,
  },
  {
    name: 'a request for help in the title',
    part: 'titleLow',
    pattern: /\b(?:help|please|need|question|problem|issue|trouble)\b/,
    shown: true,
  },
  { name: 'an end that asks or thanks', part: 'proseEnd', pattern: /\?|thank|help|appreciat/, shown: true },
];

/** Measures of the answers below template headings, with the value `value` or 0. */
export const answerMeasures: readonly Omit<Measure, 'part'>[] = [
  { name: 'a template answer “bug”', pattern: /^bugs?\b/, value: 1.5, shown: true },
  {
    name: 'a template answer “feature”',
    pattern: /^(?:feature|enhancement|improvement|proposal|new feature)\b/,
    value: 1.5,
    shown: true,
  },
  {
    name: 'a template answer “question”',
    pattern: /^(?:question|support|help|usage|how to|documentation|others?)\b/,
    value: 1.5,
    shown: true,
  },
  {
    name: 'a template answer of another kind',
    pattern: /^(?:performance|build|install|regression|crash)\b/,
    value: 1.5,
  },
  { name: 'a yes in the template', pattern: /^(?:yes|true)\b/ },
  { name: 'a no in the template', pattern: /^(?:no|false|none|n\/a|na)\b/ },
];

/** Words whose measure is the square root of their rate. */
export const functionWordList: readonly string[] = (
  'i me my we our you your it its this that these those there here he they them a an the and or but if then so because ' +
  'when while where what which who how why not no can could would should will may might must do does did is are was were be been ' +
  'have has had to of in on at by for from with without as into about after before only also just still even more than other any some all ' +
  'same each please want need like get use make see try know think'
).split(' ');
