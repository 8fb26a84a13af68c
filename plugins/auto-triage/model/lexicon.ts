// Hand-written phrases that indicate the kind of an issue in English. They are features of the learned model and,
// with the votes given here, the rule used while a team has too few labels.

export type Cue = {
  /** Text shown as evidence. */
  readonly name: string;
  readonly pattern: RegExp;
  /** Votes of the rule for bug, feature and question. */
  readonly votes: readonly [number, number, number];
};

export const lexicon: readonly Cue[] = [
  {
    name: 'a crash',
    pattern: /\b(?:crash\w*|segfault\w*|segmentation fault|sigsegv|core dump\w*|abort(?:s|ed)?)\b/,
    votes: [2, 0, 0],
  },
  {
    name: 'an error',
    pattern: /\b(?:errors?|exceptions?|fail(?:s|ed|ure|ing)?|assertion|fatal)\b/,
    votes: [1, 0, 0],
  },
  {
    name: 'something not working',
    pattern:
      /\b(?:does ?n[o']?t|is ?n[o']?t|do ?n[o']?t|not|no longer|stopped|won't|can ?not|can't) (?:work|show|appear|respond|load|open|start|update|render|compile|build)\w*/,
    votes: [1.5, 0, 0.2],
  },
  {
    name: 'wrong behaviour',
    pattern:
      /\b(?:wrong(?:ly)?|incorrect(?:ly)?|broken|unexpected(?:ly)?|invalid|corrupt\w*|missing|inconsistent\w*|freez\w*|hang(?:s|ing)?|leak\w*)\b/,
    votes: [1, 0, 0],
  },
  {
    name: 'a regression',
    pattern:
      /\b(?:regression|used to work|worked (?:in|before|fine)|since (?:the )?(?:last )?(?:update|upgrade)|after (?:the )?(?:update|upgrad)\w*)\b/,
    votes: [2, 0, 0],
  },
  {
    name: 'steps to reproduce',
    pattern: /\b(?:steps to reproduce|repro steps|to reproduce|reproduc\w*|minimal example)\b/,
    votes: [1, 0, 0],
  },
  {
    name: 'expected and actual behaviour',
    pattern:
      /\b(?:expected (?:behaviou?r|result|output)|actual (?:behaviou?r|result|output)|instead of|should(?: not|n't)? (?:have|be))\b/,
    votes: [0.7, 0, 0],
  },
  { name: 'the word bug', pattern: /\bbugs?\b/, votes: [1, 0, 0] },
  { name: 'a fix', pattern: /\b(?:fix(?:e[sd]|ing)?|revert\w*|workaround)\b/, votes: [0.7, 0, 0] },
  {
    name: 'a request for a feature',
    pattern: /\b(?:feature(?: request)?s?|enhancement|proposal|rfc|suggestion)\b/,
    votes: [0, 2, 0],
  },
  {
    name: 'a wish',
    pattern:
      /\b(?:would be (?:nice|great|good|useful|helpful|cool|awesome|better)|(?:would|'d) (?:like|love)|it'd be|wish|ideally|(?:could|can) you (?:please )?(?:add|support|make|provide)|please (?:add|support|allow|consider|provide|implement))\b/,
    votes: [0, 2, 0],
  },
  {
    name: 'something to add',
    pattern: /\b(?:add(?:s|ed|ing)?|implement\w*|introduc\w*|extend\w*|provid(?:e|es|ing))\b/,
    votes: [0, 0.7, 0],
  },
  {
    name: 'something to allow or support',
    pattern:
      /\b(?:support(?:s|ing)? (?:for|of)|allow(?:s|ing)?|enabl(?:e|es|ing)|ability to|option (?:to|for)|expose\w*|configurable)\b/,
    votes: [0, 1, 0],
  },
  {
    name: 'something to improve',
    pattern: /\b(?:improv\w*|better|simplif\w*|optimi[sz]\w*|faster|refactor\w*|clean ?up)\b/,
    votes: [0, 0.8, 0],
  },
  {
    name: 'a use case',
    pattern:
      /\b(?:use[ -]cases?|motivation|alternatives?|describe the solution|related to a problem|will this change|who will benefit)\b/,
    votes: [0, 1, 0],
  },
  { name: '“how to”', pattern: /\bhow (?:to|do|does|can|could|should|would|is|are)\b/, votes: [0, 0, 2] },
  { name: '“why”', pattern: /\bwhy\b/, votes: [0, 0, 1.2] },
  {
    name: '“what” or “which”',
    pattern: /\b(?:what|which|where|when) (?:is|are|does|do|should|can|would)\b/,
    votes: [0, 0, 1],
  },
  {
    name: '“is there a way”',
    pattern:
      /\b(?:is (?:there|it possible)|are there|any way|possible to|can i|can we|could i|should i|do i)\b/,
    votes: [0, 0.2, 1.2],
  },
  {
    name: 'the word question',
    pattern:
      /\b(?:questions?|ask(?:ing|ed)?|wonder\w*|curious|clarif\w*|explain\w*|understand\w*|confus\w*)\b/,
    votes: [0, 0, 1.2],
  },
  {
    name: 'a request for help',
    pattern:
      /\b(?:help|advice|guid(?:e|ance)|anyone|anybody|someone|somebody|any ideas?|stuck|newbie|beginner|new to)\b/,
    votes: [0, 0, 1],
  },
  {
    name: 'an attempt',
    pattern:
      /\b(?:i(?:'m| am)? (?:try(?:ing)?|tried|want|need|have tried|am using|use)|trying to|tried to|i(?:'ve| have))\b/,
    votes: [0, 0, 0.6],
  },
  {
    name: 'thanks',
    pattern: /\b(?:thanks?|thank you|thx|appreciated?|regards|cheers)\b/,
    votes: [0, 0, 0.5],
  },
  { name: 'a greeting', pattern: /^[ \t]*(?:hi|hello|hey|dear)\b/m, votes: [0, 0, 0.4] },
  {
    name: 'documentation',
    pattern: /\b(?:documentation|docs?|tutorials?|examples?|samples?|readme)\b/,
    votes: [0, 0.1, 0.4],
  },
  {
    name: 'an installation',
    pattern: /\b(?:install\w*|build(?:ing)?|compil\w*|cmake|pip|npm|configur\w*|setup|import)\b/,
    votes: [0.1, 0, 0.3],
  },
  { name: 'a version', pattern: /\b(?:versions?|v?\d+\.\d+(?:\.\d+)*)\b/, votes: [0.2, 0, 0] },
  {
    name: 'an intermittent failure',
    pattern: /\b(?:intermittent\w*|sometimes|random(?:ly)?|flaky|race|deadlock|sporadic\w*|occasional\w*)\b/,
    votes: [1, 0, 0],
  },
  {
    name: 'a proposed change',
    pattern: /\b(?:pull request|checklist|patch|backport|merge|this pr|pr)\b/,
    votes: [0.1, 0.3, 0],
  },
  {
    name: 'a discussion',
    pattern: /\b(?:discuss\w*|consider\w*|think|opinion|thoughts|maybe|perhaps)\b/,
    votes: [0, 0.4, 0.2],
  },
  {
    name: 'something currently missing',
    pattern:
      /\b(?:currently|at the moment|right now|today|there is no|lack\w*|not (?:yet )?supported|no way to|unsupported)\b/,
    votes: [0, 0.7, 0],
  },
];
