// Icons of buttons. They are hidden from screen readers, which read the name of the button.
import type { ReactNode } from 'react';
import styles from './parts.module.css';

const shapes = {
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M4 4l8 8M12 4l-8 8',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  up: 'M4 10l4-4 4 4',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  plus: 'M8 3v10M3 8h10',
  link: 'M7 9a3 3 0 004 0l2-2a3 3 0 00-4-4L8 4M9 7a3 3 0 00-4 0L3 9a3 3 0 004 4l1-1',
} as const;

export function Icon({ name }: { readonly name: keyof typeof shapes }): ReactNode {
  return (
    <svg className={styles.glyph} viewBox="0 0 16 16" aria-hidden="true">
      <path
        d={shapes[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth={name === 'more' ? 2.5 : 1.75}
        strokeLinecap="round"
      />
    </svg>
  );
}
