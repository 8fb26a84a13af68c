// Turns Markdown into elements. Raw HTML becomes text, links lead only to web and mail addresses, and images of other
// servers load on a click, so that a text neither runs code nor tells its author who reads it.
import type { Heading, Image, ListItem, Nodes, Root, RootContent, Table } from 'mdast';
import { createContext, createElement, Fragment, use, useState, type ReactNode } from 'react';
import { text } from '../../text/markdown.ts';
import { Button } from '../button.tsx';
import { identifier } from '../issue/identifier.ts';
import { useTree } from './markdown-trees.ts';
import { OwnImages } from './own-images.ts';

/** Deeper parts are left out, because a text of brackets could nest thousands of levels. */
const depthMax = 40;

export interface MarkdownProps {
  readonly source: string;
  /** Receives the source with a task checked or unchecked. Absent for texts that the person may not change. */
  readonly onTask?: ((source: string) => void) | undefined;
}

/** Returns a function that changes the task at a place in the source; null if it cannot be changed. */
const TaskChange = createContext<(offset: number) => (() => void) | null>(() => null);

export default function MarkdownTree(props: MarkdownProps): ReactNode {
  const root = useTree(props.source);
  return root === undefined ? <pre>{props.source}</pre> : <Elements root={root} {...props} />;
}

interface ElementsProps extends MarkdownProps {
  readonly root: Root | null;
}

export function Elements({ root, source, onTask }: ElementsProps): ReactNode {
  if (root === null)
    return (
      <>
        <p className="notice">{text.tooComplex}</p>
        <pre tabIndex={0}>{source}</pre>
      </>
    );
  placeHeadings(root);
  const changeOf = (offset: number): (() => void) | null => {
    const changed = withTaskChanged(source, offset);
    return changed === null || !onTask ? null : () => onTask(changed);
  };
  return <TaskChange value={changeOf}>{parts(root, 0)}</TaskChange>;
}

/** Marker and box of a task in one line. Other forms are rare, and a change of them could change another text. */
const task = /^((?:[-+*]|\d{1,9}[.)])[ \t]{1,4}\[)([ xX])(?=\][ \t])/;

/** Returns the source with the task at an offset checked, or unchecked; null if there is none in one line. */
export function withTaskChanged(source: string, offset: number): string | null {
  const rest = source.slice(offset);
  if (!task.test(rest)) return null;
  const change = (_: string, start: string, mark: string): string => start + (mark === ' ' ? 'x' : ' ');
  return source.slice(0, offset) + rest.replace(task, change);
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
      return <Item node={node}>{parts(node, depth)}</Item>;
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

interface ItemProps {
  readonly node: ListItem;
  readonly children: ReactNode;
}

function Item({ node: { checked, position }, children }: ItemProps): ReactNode {
  const changeOf = use(TaskChange);
  const change = position?.start.offset === undefined ? null : changeOf(position.start.offset);
  const box = typeof checked === 'boolean' && (
    <input
      type="checkbox"
      aria-label={text.task}
      checked={checked}
      disabled={change === null}
      onChange={() => change?.()}
    />
  );
  return (
    <li>
      {box} {children}
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
