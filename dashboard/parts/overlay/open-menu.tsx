// Menu that opens when it is first shown, and its items.
import { Menu as Base } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import { buttonClass } from '../button.tsx';
import { MenuItemContext, type MenuItemProps, type MenuProps } from './menu.tsx';
import styles from '../parts.module.css';

export default function OpenMenu({ label, button, look, finalFocus, children }: MenuProps): ReactNode {
  return (
    <Base.Root defaultOpen>
      <Base.Trigger className={buttonClass(look && { look })} aria-label={label}>
        {button}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} align="start">
          <Base.Popup className={styles.popup} finalFocus={() => finalFocus?.() ?? true}>
            <MenuItemContext value={Item}>{children}</MenuItemContext>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Item({ onSelect, isDisabled = false, children }: MenuItemProps): ReactNode {
  return (
    <Base.Item className={styles.item} onClick={onSelect} disabled={isDisabled}>
      {children}
    </Base.Item>
  );
}
