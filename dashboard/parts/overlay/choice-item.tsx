import { Combobox } from '@base-ui/react/combobox';
import type { ReactNode } from 'react';
import styles from '../parts.module.css';
import type { Choice } from '../picker.tsx';

/** Line of a list of choices. */
export function ChoiceItem({ choice }: { readonly choice: Choice }): ReactNode {
  return (
    <Combobox.Item value={choice} className={styles.item}>
      {choice.icon}
      <span className="grow cut">{choice.name}</span>
      <Combobox.ItemIndicator>✓</Combobox.ItemIndicator>
    </Combobox.Item>
  );
}
