// Side panel with an issue, beside a list or a board. It loads when it is first opened.
import { lazy, Suspense, type ReactNode } from 'react';
import { Loading } from '../../parts/states.tsx';
import styles from './peek.module.css';

const IssuePanel = lazy(() => import('./panel.tsx'));

interface PeekProps {
  readonly identifier: string;
  readonly onClose: () => void;
}

export function Peek({ identifier, onClose }: PeekProps): ReactNode {
  return (
    <aside className={styles.panel} aria-label={identifier}>
      <Suspense fallback={<Loading />}>
        <IssuePanel identifier={identifier} onClose={onClose} />
      </Suspense>
    </aside>
  );
}
