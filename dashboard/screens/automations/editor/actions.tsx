// Then: the actions of a rule, in order.
import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { Button } from '../../../parts/button.tsx';
import { FieldGroup, SelectField } from '../../../parts/fields.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Menu, MenuItem } from '../../../parts/overlay/menu.tsx';
import { isTree } from '../../../parts/filter/filter.ts';
import { text } from '../../../text/automation-editor.ts';
import { text as words } from '../../../text/automation-rule.ts';
import { textOf, withMember, type Part } from '../rule/rule.ts';
import { actionForms, type ActionType } from './action-forms.tsx';
import { JsonField } from './inputs.tsx';

const actionsMax = 20;
const types = Object.keys(actionForms) as readonly ActionType[];
const isKnown = (type: string): type is ActionType => Object.hasOwn(actionForms, type);

interface ActionsProps {
  readonly actions: readonly Part[];
  readonly onChange: (actions: readonly Part[]) => void;
}

const moved = <T,>(list: readonly T[], from: number, to: number): readonly T[] =>
  list.toSpliced(from, 1).toSpliced(to, 0, list[from]!);

/** Keys of the cards, which follow their actions when these move. */
function useKeys(count: number): readonly [keys: readonly number[], set: (keys: readonly number[]) => void] {
  const [keys, setKeys] = useState<readonly number[]>([]);
  // The rule may have been replaced as a whole.
  return [keys.length === count ? keys : Array.from({ length: count }, (_, at) => at), setKeys];
}

/** Returns a function that gives the focus to a button of the card at a place, once the card is there. */
function useFocusOfMoved(list: RefObject<HTMLDivElement | null>): (to: number, isUp: boolean) => void {
  const pending = useRef<readonly [to: number, isUp: boolean] | null>(null);
  useEffect(() => {
    if (!pending.current) return;
    const [to, isUp] = pending.current;
    pending.current = null;
    const card = list.current?.querySelectorAll(':scope > ol > li')[to];
    const [up, down] = card?.querySelectorAll<HTMLButtonElement>('[data-move]') ?? [];
    const same = isUp ? up : down;
    const other = isUp ? down : up;
    (same?.disabled === true ? other : same)?.focus();
  });
  return (to, isUp) => (pending.current = [to, isUp]);
}

/** Returns the first field of the last card. */
const firstFieldOf = (list: HTMLElement | null): HTMLElement | null =>
  list?.querySelector(
    ':scope > ol > li:last-child :is(input, select, textarea, [role=combobox], [aria-haspopup])',
  ) ?? null;

export function ActionFields({ actions, onChange }: ActionsProps): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const [keys, setKeys] = useKeys(actions.length);
  const focusMoved = useFocusOfMoved(list);
  const isAdded = useRef(false);
  const add = (type: ActionType): void => {
    isAdded.current = true;
    setKeys([...keys, Math.max(-1, ...keys) + 1]);
    onChange([...actions, actionForms[type][0]]);
  };
  const move = (from: number, to: number): void => {
    focusMoved(to, to < from);
    setKeys(moved(keys, from, to));
    onChange(moved(actions, from, to));
  };
  const remove = (at: number): void => {
    // The button that had the focus is gone.
    list.current?.querySelector<HTMLElement>(':scope > div > [aria-haspopup=menu]')?.focus();
    setKeys(keys.toSpliced(at, 1));
    onChange(actions.toSpliced(at, 1));
  };
  return (
    <div className="stack" ref={list}>
      {actions.length === 0 && <p className="soft">{text.noActions}</p>}
      <ol className="stack" aria-label={text.blocks.actions}>
        {actions.map((action, at) => (
          <li key={keys[at]} className="card">
            <ActionCard
              action={action}
              at={at}
              isLast={at === actions.length - 1}
              onChange={(next) => onChange(actions.with(at, next))}
              onMove={(to) => move(at, to)}
              onRemove={() => remove(at)}
            />
          </li>
        ))}
      </ol>
      {actions.length < actionsMax && (
        <div>
          <Menu
            button={`+ ${text.addAction}`}
            finalFocus={() => {
              const added = isAdded.current ? firstFieldOf(list.current) : null;
              isAdded.current = false;
              return added;
            }}
          >
            {types.map((type) => (
              <MenuItem key={type} onSelect={() => add(type)}>
                {words.actions[type]}
              </MenuItem>
            ))}
          </Menu>
        </div>
      )}
    </div>
  );
}

interface CardProps {
  readonly action: Part;
  readonly at: number;
  readonly isLast: boolean;
  readonly onChange: (action: Part) => void;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
}

function ActionCard({ action, at, isLast, onChange, onMove, onRemove }: CardProps): ReactNode {
  const type = textOf(action, 'type');
  const name = isKnown(type) ? words.actions[type] : type;
  const path = `actions.${at}`;
  return (
    <FieldGroup label={text.actionTitle(at + 1, name)} name={path}>
      <ActionForm action={action} path={path} type={type} onChange={onChange} />
      <div className="row">
        <span className="grow" />
        <Button
          look="plain"
          isIcon
          data-move
          aria-label={text.moveUp(at + 1)}
          disabled={at === 0}
          onClick={() => onMove(at - 1)}
        >
          <Icon name="up" />
        </Button>
        <Button
          look="plain"
          isIcon
          data-move
          aria-label={text.moveDown(at + 1)}
          disabled={isLast}
          onClick={() => onMove(at + 1)}
        >
          <Icon name="down" />
        </Button>
        <Button look="plain" isIcon aria-label={text.removeAction(at + 1)} onClick={onRemove}>
          <Icon name="close" />
        </Button>
      </div>
    </FieldGroup>
  );
}

interface FormProps {
  readonly action: Part;
  readonly path: string;
  readonly type: string;
  readonly onChange: (action: Part) => void;
}

function ActionForm({ action, path, type, onChange }: FormProps): ReactNode {
  if (!isKnown(type))
    return (
      <>
        <p className="soft">{text.unknownAction}</p>
        <JsonField
          label={text.asJson}
          name={`${path}.type`}
          value={action}
          onChange={(next) => isTree(next) && onChange(next)}
        />
      </>
    );
  const [, Form] = actionForms[type];
  return (
    <>
      <Form action={action} at={path} onChange={onChange} />
      {type !== 'http' && (
        <SelectField
          label={text.target}
          name={`${path}.on`}
          value={textOf(action, 'on') || 'issue'}
          options={Object.entries(words.targets)}
          onPick={(on) => onChange(withMember(action, 'on', on === 'issue' ? undefined : on))}
        />
      )}
    </>
  );
}
