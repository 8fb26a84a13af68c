import { Menu as Base } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import { buttonClass } from './button.tsx';
import styles from './parts.module.css';

interface MenuProps {
  /** Accessible name of the button; its visible content by default. */
  readonly label?: string;
  readonly button: ReactNode;
  readonly look?: 'primary' | 'plain';
  readonly children: ReactNode;
}

/** Button that opens a menu of `MenuItem`. */
export function Menu({ label, button, look, children }: MenuProps): ReactNode {
  return (
    <Base.Root>
      <Base.Trigger className={buttonClass(look && { look })} aria-label={label}>
        {button}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} align="start">
          <Base.Popup className={styles.popup}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

interface MenuItemProps {
  readonly onSelect: () => void;
  readonly isDisabled?: boolean;
  readonly children: ReactNode;
}

export function MenuItem({ onSelect, isDisabled = false, children }: MenuItemProps): ReactNode {
  return (
    <Base.Item className={styles.item} onClick={onSelect} disabled={isDisabled}>
      {children}
    </Base.Item>
  );
}
