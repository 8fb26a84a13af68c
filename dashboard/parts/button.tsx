import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import styles from './parts.module.css';

interface Look {
  readonly look?: 'primary' | 'danger' | 'plain';
  /** True for a button without visible text; it needs an `aria-label`. */
  readonly isIcon?: boolean;
}

/** Class names of a button, for elements that other libraries render. */
export function buttonClass({ look, isIcon = false }: Look = {}): string {
  return [styles.button, look && styles[look], isIcon && styles.icon].filter(Boolean).join(' ');
}

export function Button({ look, isIcon, ...props }: Look & ComponentProps<'button'>): ReactNode {
  return (
    <button
      type="button"
      className={buttonClass({ ...(look && { look }), ...(isIcon && { isIcon }) })}
      {...props}
    />
  );
}

export function LinkButton({
  look,
  ...props
}: Pick<Look, 'look'> & Omit<LinkProps, 'children'> & { readonly children: ReactNode }): ReactNode {
  return <Link className={buttonClass(look && { look })} {...props} />;
}
