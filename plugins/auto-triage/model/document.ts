// Takes a Markdown issue apart into what carries different evidence: title, prose, code, template headings with their
// answers, and whole lines. Reads title and description only: dates, people and ids would teach the wrong thing. Every
// pattern here and in `structure.ts` is linear in its input, or bounded: anybody may write an issue.

export type IssueText = { readonly title: string; readonly description: string };

type Section = { readonly heading: string; readonly value: string };

export type Document = {
  readonly title: string;
  /** The description as given, cut to {@link bodyCharsMax}. */
  readonly body: string;
  /** Sentences of the description without code, comments, quotes of templates, links and markup. */
  readonly prose: string;
  readonly code: string;
  readonly sections: readonly Section[];
  /** Normalised non-empty lines outside code: digits as 0, at most 100 characters each. */
  readonly lines: readonly string[];
  /** Text of HTML comments, which templates leave behind. */
  readonly comments: string;
};

/** What lies beyond says little about the kind of an issue, and CPU is bounded. */
export const bodyCharsMax = 12_000;
const lineCharsMax = 2000;

const fenceLine = /^[ \t]*(?:```|~~~)/;
const headingLine = /^(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]{2,80})\*\*:?|<summary>(.{2,80}?)<\/summary>)\s*$/;
const fieldLine = /^(?:[-*]\s+)?\*{0,2}([A-Za-z][^:*]{1,60}?)\*{0,2}\s*:(?!\/\/)\*{0,2}\s*(\S.{0,80})?$/;

/** Never throws: any two strings are a document. */
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

/** What has been read of the lines so far. */
interface Reading {
  readonly prose: string[];
  readonly code: string[];
  readonly sections: Section[];
  readonly lines: string[];
  /** Whose answer has not come yet; empty when there is none. */
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

/** A line outside code. */
function readLine(line: string, into: Reading): void {
  if (line === '') return;
  into.lines.push(normaliseLine(line));
  const start = line.slice(0, 200);
  const found = headingLine.exec(start);
  if (found) {
    answerHeading(into, '');
    into.heading = normaliseLine(found[1] ?? found[2] ?? found[3] ?? '');
    return;
  }
  answerHeading(into, line);
  const field = fieldLine.exec(start);
  if (field)
    into.sections.push({ heading: normaliseLine(field[1] ?? ''), value: normaliseLine(field[2] ?? '') });
  into.prose.push(plainText(line, into.code));
}

/** A template heading is answered by the line after it. */
function answerHeading(into: Reading, line: string): void {
  if (into.heading !== '') into.sections.push({ heading: into.heading, value: normaliseLine(line) });
  into.heading = '';
}

/** Lower case, markup and spacing dropped, digits as 0: the same template line always reads the same. */
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
