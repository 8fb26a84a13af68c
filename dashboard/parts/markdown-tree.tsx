// Turns Markdown into elements. Raw HTML becomes text, links lead only to web and mail addresses, and images of other
// servers load on a click, so that a text neither runs code nor tells its author who reads it.
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import type { Heading, Image, ListItem, Nodes, Root, RootContent, Table } from 'mdast';
import { gfm } from 'micromark-extension-gfm';
import { createElement, Fragment, use, useState, type ReactNode } from 'react';
import { text } from '../text/markdown.ts';
import { Button } from './button.tsx';
import { OwnImages } from './own-images.ts';

/** Deeper parts are left out, because a text of brackets could nest thousands of levels. */
const depthMax = 40;

export default function MarkdownTree({ source }: { readonly source: string }): ReactNode {
  return <>{parts(parse(source), 0)}</>;
}

function parse(source: string): Root {
  const root = fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  placeHeadings(root);
  return root;
}

/** Level of the heading above a text. */
const levelAbove = 2;
const levelMax = 6;

/** Levels of the headings of a text. They follow those of the page without a gap, as screen readers need. */
const levels = new WeakMap<Heading, number>();

function placeHeadings({ children }: Root): void {
  const headings = children.filter((child) => child.type === 'heading');
  const depths = [...new Set(headings.map(({ depth }) => depth))].toSorted();
  let before = levelAbove;
  for (const heading of headings) {
    const wanted = levelAbove + 1 + depths.indexOf(heading.depth);
    before = Math.min(levelMax, wanted, before + 1);
    levels.set(heading, before);
  }
}

function parts(node: Nodes, depth: number): ReactNode {
  if (depth > depthMax) return text.tooDeep;
  if (!('children' in node)) return null;
  return node.children.map((child, index) => (
    <Fragment key={index}>{elementOf(child as RootContent, depth + 1)}</Fragment>
  ));
}

const tags: Readonly<Partial<Record<RootContent['type'], string>>> = {
  paragraph: 'p',
  emphasis: 'em',
  strong: 'strong',
  delete: 'del',
  blockquote: 'blockquote',
  footnoteDefinition: 'aside',
};

function elementOf(node: RootContent, depth: number): ReactNode {
  const tag = tags[node.type];
  if (tag !== undefined) return createElement(tag, null, parts(node, depth));
  switch (node.type) {
    case 'text':
      return linked(node.value);
    case 'html':
      return node.value;
    case 'heading':
      // A heading inside of a quotation or list is none of the page.
      return createElement(levels.has(node) ? `h${levels.get(node)}` : 'strong', null, parts(node, depth));
    case 'list':
      return createElement(
        node.ordered === true ? 'ol' : 'ul',
        node.start == null ? null : { start: node.start },
        parts(node, depth),
      );
    case 'listItem':
      return itemOf(node, depth);
    case 'link':
      return <SafeLink to={node.url}>{parts(node, depth)}</SafeLink>;
    default:
      return leafOf(node, depth);
  }
}

function leafOf(node: RootContent, depth: number): ReactNode {
  switch (node.type) {
    case 'inlineCode':
      return <code>{node.value}</code>;
    case 'code':
      return (
        // Long lines scroll, also by keyboard.
        <pre tabIndex={0}>
          <code>{node.value}</code>
        </pre>
      );
    case 'image':
      return <SafeImage image={node} />;
    case 'table':
      return tableOf(node, depth);
    case 'break':
      return <br />;
    case 'thematicBreak':
      return <hr />;
    case 'footnoteReference':
      return <sup>{node.label ?? node.identifier}</sup>;
    case 'linkReference':
      return parts(node, depth);
    default:
      // Definitions and front matter show nothing.
      return null;
  }
}

function itemOf(node: ListItem, depth: number): ReactNode {
  const box = typeof node.checked === 'boolean' && (
    <input type="checkbox" checked={node.checked} readOnly disabled aria-label={text.task} />
  );
  return (
    <li>
      {box} {parts(node, depth)}
    </li>
  );
}

function tableOf({ children: [head, ...rows] }: Table, depth: number): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          {head?.children.map((cell, index) => (
            <th key={index} scope="col">
              {parts(cell, depth + 2)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.children.map((cell, at) => (
              <td key={at}>{parts(cell, depth + 2)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const safeProtocols: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

const relativeHost = 'relative.invalid';

/** @returns null for an address that could run code or is none */
function safeUrl(address: string): URL | null {
  const url = URL.parse(address, `https://${relativeHost}`);
  return url && safeProtocols.has(url.protocol) ? url : null;
}

function SafeLink({ to, children }: { readonly to: string; readonly children: ReactNode }): ReactNode {
  if (!safeUrl(to)) return <>{children}</>;
  return (
    <a href={to} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function SafeImage({ image: { url, alt } }: { readonly image: Image }): ReactNode {
  const [isShown, show] = useState(false);
  const imageOf = use(OwnImages);
  const target = safeUrl(url);
  const name = alt == null || alt === '' ? text.image : alt;
  const own = imageOf(url, name);
  if (own !== null) return own;
  if (!target || target.protocol !== 'https:' || target.host === relativeHost) return name;
  if (isShown) return <img src={target.href} alt={name} referrerPolicy="no-referrer" />;
  return (
    <Button onClick={() => show(true)} title={target.href}>
      {name}: {text.loadImage(target.host)}
    </Button>
  );
}

const identifier = /\b([A-Z][A-Z0-9]{0,9}-[1-9]\d{0,8})\b/;

/** Links identifiers of issues, such as ENG-42. */
function linked(value: string): ReactNode {
  return value.split(identifier).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <a key={index} href={`/issues/${part}`}>
        {part}
      </a>
    ),
  );
}
