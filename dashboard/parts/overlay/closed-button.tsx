import type { ComponentProps, ReactNode } from 'react';

interface ClosedButtonProps extends ComponentProps<'button'> {
  readonly isOpening: boolean;
  readonly onOpen: (isTouched: boolean) => void;
}

/** Button of a menu or a picker that has not been open yet. */
export function ClosedButton({ isOpening, onOpen, ...props }: ClosedButtonProps): ReactNode {
  return (
    <button
      type="button"
      aria-expanded={false}
      data-opening={isOpening ? '' : undefined}
      {...props}
      onClick={({ nativeEvent }) => onOpen((nativeEvent as PointerEvent).pointerType === 'touch')}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
        event.preventDefault();
        onOpen(false);
      }}
    />
  );
}
