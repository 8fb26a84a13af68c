// Splits a Markdown issue into parts with different evidence: title, prose, code, template headings with their
// answers, and whole lines. Only title and description are read, because dates, people and ids would mislead the
// model. Issues are untrusted, so every pattern here and in `structure.ts` is linear in its input or bounded.

export type IssueText = { readonly title: string; readonly description: string };

type Section = { readonly heading: string; readonly value: string };

export type Document = {
  readonly title: string;
  /** Original description, truncated to {@link bodyCharsMax}. */
  readonly body: string;
  /** Sentences of the description without code, comments, template quotes, links and markup. */
  readonly prose: string;
  readonly code: string;
  readonly sections: readonly Section[];
  /** Normalised non-empty lines outside code: digits replaced by 0, at most 100 characters each. */
  readonly lines: readonly string[];
  /** Text of HTML comments, which remain from templates. */
  readonly comments: string;
};

/** Text beyond this adds little evidence, and CPU time is limited. */
export const bodyCharsMax = 12_000;
const lineCharsMax = 2000;

const fenceLine = /^[ \t]*(?:```|~~~)/;
const headingLine = /^(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]{2,80})\*\*:?|<summary>(.{2,80}?)<\/summary>)\s*$/;
const fieldLine = /^(?:[-*]\s+)?\*{0,2}([A-Za-z][^:*]{1,60}?)\*{0,2}\s*:(?!\/\/)\*{0,2}\s*(\S.{0,80})?$/;

/** Splits an issue into its parts. Never throws, because any two strings are a valid document. */
export function parseDocument(issue: IssueText): Document {
  const body = issue.description.slice(0, bodyCharsMax).replaceAll('\r', '');
  const comments: string[] = [];
  const bare = body.replace(/<!--([\s\S]*?)(?:-->|$)/g, (_, text: string) => {
    comments.push(text);
    return ' ';
  });
  const { prose, code, sections, lines } = readLines(bare.split('\n'));
  for (const comment of comments)
    for (const l of comment.split('\n')) if (l.trim() !== '') lines.push(normaliseLine(l));
  return {
    title: issue.title.slice(0, 300),
    body,
    prose: prose.join('\n'),
    code: code.join('\n'),
    sections,
    lines,
    comments: comments.join('\n'),
  };
}

/** Parser state. */
interface Reading {
  readonly prose: string[];
  readonly code: string[];
  readonly sections: Section[];
  readonly lines: string[];
  /** Heading without an answer so far; empty if there is none. */
  heading: string;
}

function readLines(rawLines: readonly string[]): Reading {
  const into: Reading = { prose: [], code: [], sections: [], lines: [], heading: '' };
  let inFence = false;
  for (const raw of rawLines) {
    if (fenceLine.test(raw)) {
      inFence = !inFence;
      if (inFence) into.lines.push('```');
    } else if (inFence) into.code.push(raw);
    else readLine(raw.slice(0, lineCharsMax).trim(), into);
  }
  answerHeading(into, '');
  return into;
}

/** Parses a line outside code. */
function readLine(line: string, into: Reading): void {
  if (line === '') return;
  into.lines.push(normaliseLine(line));
  const start = line.slice(0, 200);
  const headingMatch = headingLine.exec(start);
  if (headingMatch) {
    answerHeading(into, '');
    into.heading = normaliseLine(headingMatch[1] ?? headingMatch[2] ?? headingMatch[3] ?? '');
    return;
  }
  answerHeading(into, line);
  const field = fieldLine.exec(start);
  if (field)
    into.sections.push({ heading: normaliseLine(field[1] ?? ''), value: normaliseLine(field[2] ?? '') });
  into.prose.push(plainText(line, into.code));
}

/** Uses the line after a template heading as its answer. */
function answerHeading(into: Reading, line: string): void {
  if (into.heading !== '') into.sections.push({ heading: into.heading, value: normaliseLine(line) });
  into.heading = '';
}

/** Lower-cases, removes markup and spacing, and replaces digits by 0, so that a template line is always equal. */
export function normaliseLine(line: string): string {
  return line
    .slice(0, 300)
    .toLowerCase()
    .replace(/<\/?[a-z][^<>]*>/g, ' ')
    .replace(/[#*_`>|]+/g, ' ')
    .replace(/\d+/g, '0')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 100);
}

function plainText(line: string, code: string[]): string {
  return line
    .replace(/`([^`]+)`/g, (_, inline: string) => {
      code.push(inline);
      return ` ${inline} `;
    })
    .replace(/!\[[^[\]]{0,300}\]\([^()]{0,500}\)|<img[^<>]{0,500}>/gi, ' imgtoken ')
    .replace(/\[([^[\]]{0,300})\]\([^()]{0,500}\)/g, '$1 urltoken ')
    .replace(/https?:\/\/\S+/gi, ' urltoken ')
    .replace(/<\/?[a-z][^<>]{0,300}>/gi, ' ')
    .replace(/[*_>#|~]+/g, ' ');
}
