import { createContext, lazy, Suspense, use, useState, type ReactNode } from 'react';
import { buttonClass } from '../button.tsx';

const OpenMenu = lazy(() => import('./open-menu.tsx'));

export interface MenuProps {
  /** Accessible name of the button; its visible content by default. */
  readonly label?: string;
  readonly button: ReactNode;
  readonly look?: 'primary' | 'plain';
  readonly children: ReactNode;
}

/** Button that opens a menu of `MenuItem`. The code of menus loads when the first one opens. */
export function Menu(props: MenuProps): ReactNode {
  const [isUsed, setUsed] = useState(false);
  const { label, button, look } = props;
  const closed = (
    <button
      type="button"
      className={buttonClass(look && { look })}
      aria-label={label}
      aria-haspopup="menu"
      aria-expanded={isUsed}
      onClick={() => setUsed(true)}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
        event.preventDefault();
        setUsed(true);
      }}
    >
      {button}
    </button>
  );
  if (!isUsed) return closed;
  return (
    <Suspense fallback={closed}>
      <OpenMenu {...props} />
    </Suspense>
  );
}

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly isDisabled?: boolean;
  readonly children: ReactNode;
}

/** Component of an item, which loads with the menu. */
export const MenuItemContext = createContext<((props: MenuItemProps) => ReactNode) | null>(null);

export function MenuItem(props: MenuItemProps): ReactNode {
  const Item = use(MenuItemContext);
  return Item && <Item {...props} />;
}
