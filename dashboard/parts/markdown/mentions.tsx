// Suggests members while the person types `@` and the start of a name in a text.
import type { Member } from '@tatami/sdk/client';
import {
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type ChangeEvent,
  type ComponentProps,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { useMembers } from '../../data/directory.ts';
import { text } from '../../text/markdown.ts';
import { Avatar } from '../issue/symbols.tsx';
import styles from '../parts.module.css';

const shownMax = 6;

/** A mention before the caret that is not yet complete. */
interface Open {
  /** Index of the `@`. */
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly highlighted: number;
}

/** @returns null unless the caret follows `@` and a part of a name */
function openMention(value: string, caret: number): Open | null {
  const found = /(?:^|[\s(])@([\p{L}\p{N}_.-]*(?: [\p{L}\p{N}_.-]+)?)$/u.exec(value.slice(0, caret));
  return found && { start: caret - found[1]!.length - 1, end: caret, name: found[1]!, highlighted: 0 };
}

const startsWith = (name: string, part: string): boolean =>
  [name, ...name.split(/\s+/)].some((word) => word.toLowerCase().startsWith(part.toLowerCase()));

interface MentionArea extends Omit<ComponentProps<'textarea'>, 'onChange' | 'value'> {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Text area that completes mentions of members. */
export function MentionArea({ value, onChange, onKeyDown, ...props }: MentionArea): ReactNode {
  const listId = useId();
  const members = useMembers();
  const [open, setOpen] = useState<Open | null>(null);
  const caret = useRef<{ readonly area: HTMLTextAreaElement; readonly at: number } | null>(null);
  // A changed value moves the caret to the end, and the next key may follow at once.
  useLayoutEffect(() => {
    if (caret.current) caret.current.area.setSelectionRange(caret.current.at, caret.current.at);
    caret.current = null;
  });
  const found = open ? members.filter(({ name }) => startsWith(name, open.name)).slice(0, shownMax) : [];
  const isUnique = (name: string): boolean => members.filter((one) => one.name === name).length === 1;
  const pick = (index: number): void => {
    const { id, name } = found[index]!;
    // A name that two members have mentions nobody.
    const mention = `@${isUnique(name) ? name : id} `;
    const before = value.slice(0, open!.start) + mention;
    onChange(before + value.slice(open!.end));
    setOpen(null);
    caret.current = { area: document.activeElement as HTMLTextAreaElement, at: before.length };
  };
  const change = ({ target }: ChangeEvent<HTMLTextAreaElement>): void => {
    onChange(target.value);
    setOpen(openMention(target.value, target.selectionStart));
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (!open || found.length === 0 || !choosesBy(event)) return onKeyDown?.(event);
    event.preventDefault();
    // Escape would also close the dialog around the text.
    event.stopPropagation();
    const { highlighted } = open;
    if (event.key === 'Escape') return setOpen(null);
    if (event.key === 'Enter' || event.key === 'Tab') return pick(highlighted);
    const by = event.key === 'ArrowDown' ? 1 : found.length - 1;
    setOpen({ ...open, highlighted: (highlighted + by) % found.length });
  };
  const isOpen = found.length > 0;
  return (
    <>
      <textarea
        {...props}
        value={value}
        onChange={change}
        onKeyDown={onKey}
        onBlur={() => setOpen(null)}
        aria-autocomplete="list"
        {...(isOpen && {
          'aria-controls': listId,
          'aria-activedescendant': `${listId}-${open!.highlighted}`,
        })}
      />
      {isOpen && <Members id={listId} members={found} highlighted={open!.highlighted} onPick={pick} />}
      <span role="status" className="only-read">
        {isOpen && text.found(found.length)}
      </span>
    </>
  );
}

interface MembersProps {
  readonly id: string;
  readonly members: readonly Member[];
  readonly highlighted: number;
  readonly onPick: (index: number) => void;
}

function Members({ id: listId, members, highlighted, onPick }: MembersProps): ReactNode {
  return (
    <ul id={listId} role="listbox" aria-label={text.mentions} className={styles.popup}>
      {members.map(({ id, name }, index) => (
        <li
          key={id}
          id={`${listId}-${index}`}
          role="option"
          aria-selected={index === highlighted}
          data-highlighted={index === highlighted ? '' : undefined}
          className={styles.item}
          // The text area must not lose the focus.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onPick(index)}
        >
          <Avatar name={name} /> {name}
        </li>
      ))}
    </ul>
  );
}

const choosingKeys: ReadonlySet<string> = new Set(['ArrowDown', 'ArrowUp', 'Enter', 'Tab', 'Escape']);

/** Ctrl+Enter sends the text. */
const choosesBy = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  choosingKeys.has(key) && !ctrlKey && !metaKey;
