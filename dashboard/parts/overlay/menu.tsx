import { createContext, use, useState, useTransition, type ReactNode } from 'react';
import { buttonClass } from '../button.tsx';
import { ClosedButton } from './closed-button.tsx';
import { isLoaded, OpenMenu } from './loaded.ts';

export interface MenuProps {
  /** Accessible name of the button; its visible content by default. */
  readonly label?: string;
  readonly button: ReactNode;
  readonly look?: 'primary' | 'plain';
  /** Returns the element that receives the focus afterwards; null for the button. */
  readonly finalFocus?: () => HTMLElement | null;
  readonly children: ReactNode;
}

/** Button that opens a menu of `MenuItem`. */
export function Menu(props: MenuProps): ReactNode {
  const [isUsed, setUsed] = useState(false);
  const [isOpening, startOpening] = useTransition();
  const { label, button, look } = props;
  const open = (): void => {
    if (isLoaded(OpenMenu)) setUsed(true);
    // The button stays, with the focus, until the code has loaded.
    else startOpening(() => setUsed(true));
  };
  if (isUsed) return <OpenMenu {...props} />;
  return (
    <ClosedButton
      className={buttonClass(look && { look })}
      aria-label={label}
      aria-haspopup="menu"
      isOpening={isOpening}
      onOpen={open}
    >
      {button}
    </ClosedButton>
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
